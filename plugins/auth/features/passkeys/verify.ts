import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto'
import type { RelyingParty } from './relying-party.ts'

/** The part of `PublicKeyCredential.toJSON()` that is read. All bytes are base64url. */
export interface CredentialJson<Response> {
  readonly id: string
  readonly response: Response
}

/** Response of `navigator.credentials.create()`. Browsers give the key as SPKI, so neither CBOR nor ASN.1 is parsed. */
export interface RegistrationResponse {
  readonly clientDataJSON: string
  readonly authenticatorData: string
  readonly publicKey: string
  readonly publicKeyAlgorithm: number
}

/** Response of `navigator.credentials.get()`. */
export interface AssertionResponse {
  readonly clientDataJSON: string
  readonly authenticatorData: string
  readonly signature: string
  readonly userHandle?: string | null | undefined
}

/** A new passkey. */
export interface NewPasskey {
  readonly credentialId: string
  readonly publicKey: string
  /** COSE number: -7 for ES256, -257 for RS256, -8 for Ed25519. */
  readonly algorithm: number
  /** Model of the authenticator. */
  readonly aaguid: string
  readonly counter: number
  readonly isBackedUp: boolean
}

/** A response that proves nothing; the message is the reason, for the log. */
export class PasskeyRefused extends Error {}

interface Algorithm {
  readonly hash: 'sha256' | null
  fits(key: KeyObject): boolean
}

/** Algorithms by COSE number, the most common first. */
const ALGORITHMS = new Map<number, Algorithm>([
  [-7, { hash: 'sha256', fits: (key) => key.asymmetricKeyDetails?.namedCurve === 'prime256v1' }],
  [-257, { hash: 'sha256', fits: isRsa }],
  [-8, { hash: null, fits: (key) => key.asymmetricKeyType === 'ed25519' }],
])
export const ALGORITHM_NUMBERS: readonly number[] = [...ALGORITHMS.keys()]

// Flags of authenticator data (WebAuthn §6.1).
const PRESENT = 0x01
const VERIFIED = 0x04
const BACKUP_ELIGIBLE = 0x08
const BACKED_UP = 0x10
const HAS_CREDENTIAL = 0x40

/**
 * Returns the challenge in the signed client data, to find it in the store; null without one. Everything else of the
 * response counts once `verifyRegistration` or `verifyAssertion` has passed.
 */
export function challengeOf({
  response,
}: CredentialJson<{ readonly clientDataJSON: string }>): string | null {
  const { challenge } = parsed(response.clientDataJSON)
  return typeof challenge === 'string' ? challenge : null
}

/** Checks a registration with attestation `none` (WebAuthn §7.1). @throws PasskeyRefused. */
export function verifyRegistration(
  { id, response }: CredentialJson<RegistrationResponse>,
  party: RelyingParty,
): NewPasskey {
  checkClientData(response.clientDataJSON, 'webauthn.create', party)
  const data = authenticatorData(response.authenticatorData, party)
  const { bytes, flags } = data
  if (!(flags & HAS_CREDENTIAL) || bytes.length < 55) refuse('the authenticator data has no credential')
  const end = 55 + bytes.readUInt16BE(53)
  const credential = bytes.subarray(55, end)
  if (
    credential.length === 0 ||
    credential.length > 1023 ||
    bytes.length <= end ||
    !credential.equals(decoded(id))
  )
    refuse('the id is not that of the authenticator data')
  keyOf(response.publicKey, response.publicKeyAlgorithm)
  return {
    credentialId: credential.toString('base64url'),
    publicKey: response.publicKey,
    algorithm: response.publicKeyAlgorithm,
    aaguid: bytes.toString('hex', 37, 53).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    counter: data.counter,
    isBackedUp: data.isBackedUp,
  }
}

/** Checks an assertion with the stored key of its passkey (WebAuthn §7.2). @throws PasskeyRefused. */
export function verifyAssertion(
  { response }: CredentialJson<AssertionResponse>,
  passkey: { readonly publicKey: string; readonly algorithm: number },
  party: RelyingParty,
): Pick<NewPasskey, 'counter' | 'isBackedUp'> {
  checkClientData(response.clientDataJSON, 'webauthn.get', party)
  const { bytes, counter, isBackedUp } = authenticatorData(response.authenticatorData, party)
  const { key, hash } = keyOf(passkey.publicKey, passkey.algorithm)
  const signed = Buffer.concat([bytes, sha256(decoded(response.clientDataJSON))])
  if (!verify(hash, signed, key, decoded(response.signature))) refuse('the signature is not right')
  return { counter, isBackedUp }
}

function checkClientData(text: string, type: string, { origins }: RelyingParty): void {
  const data = parsed(text)
  if (data['type'] !== type) refuse(`the ceremony is not ${type}`)
  if (!origins.includes(data['origin'] as string))
    refuse(`the origin ${JSON.stringify(data['origin'])} is not one of ${origins.join(', ')}`)
  // A page of another origin has it in a frame.
  if ((data['crossOrigin'] ?? false) !== false || data['topOrigin'] !== undefined)
    refuse('the page is in a frame of another origin')
}

function authenticatorData(text: string, { id }: RelyingParty) {
  const bytes = decoded(text)
  if (bytes.length < 37) refuse('the authenticator data is too short')
  if (!bytes.subarray(0, 32).equals(sha256(id))) refuse(`the passkey is not of ${id}`)
  const flags = bytes[32]!
  if (!(flags & PRESENT)) refuse('the user was not present')
  if (!(flags & VERIFIED)) refuse('the user was not verified')
  const isBackedUp = (flags & BACKED_UP) !== 0
  if (isBackedUp && !(flags & BACKUP_ELIGIBLE)) refuse('the passkey is backed up and cannot be')
  return { bytes, flags, counter: bytes.readUInt32BE(33), isBackedUp }
}

function keyOf(spki: string, number: number): { readonly key: KeyObject; readonly hash: Algorithm['hash'] } {
  const algorithm = ALGORITHMS.get(number)
  if (algorithm === undefined) refuse(`the algorithm ${number} was not asked for`)
  const key = imported(decoded(spki))
  if (key === null || !algorithm.fits(key)) refuse(`the public key is not one of the algorithm ${number}`)
  return { key, hash: algorithm.hash }
}

function imported(spki: Buffer): KeyObject | null {
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' })
  } catch {
    return null
  }
}

function isRsa({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  const bits = details?.modulusLength ?? 0
  return type === 'rsa' && bits >= 2048 && bits <= 4096
}

function parsed(clientData: string): Readonly<Record<string, unknown>> {
  try {
    const data: unknown = JSON.parse(decoded(clientData).toString())
    return typeof data === 'object' && data !== null ? { ...data } : {}
  } catch {
    return {}
  }
}

function decoded(text: string): Buffer {
  return Buffer.from(text, 'base64url')
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}

function refuse(reason: string): never {
  throw new PasskeyRefused(reason)
}
