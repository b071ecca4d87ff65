import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

/** The options of `POST /auth/passkeys/options` that an authenticator reads. */
export interface SoftCreation {
  readonly challenge: string
  readonly rp: { readonly id: string }
  readonly user: { readonly id: string }
}

/** The options of `POST /auth/login/passkey/options` that an authenticator reads. */
export interface SoftRequest {
  readonly challenge: string
  readonly rpId: string
}

/** Deviations of one response, for tests of refusals. */
export interface SoftChanges {
  /** Members of the client data, such as `{ origin: 'https://evil.example' }`. */
  readonly client?: object
  /** Flags of the authenticator data; by default present, verified, eligible for backup and backed up. */
  readonly flags?: number
  /** 0 by default, as of every passkey that is synchronised. */
  readonly counter?: number
  readonly rpId?: string
  readonly userHandle?: string
}

interface Kept {
  readonly id: Buffer
  readonly key: KeyObject
  readonly rpId: string
  readonly userHandle: string
}

type SoftAlgorithm = 'ES256' | 'RS256' | 'Ed25519'

const FLAGS = 0x1d
const CREDENTIAL = 0x40
const NUMBERS = { ES256: -7, RS256: -257, Ed25519: -8 } as const
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

/**
 * An authenticator without a device, for tests of passkeys: it keeps what it creates and asks nobody. The results are as of
 * `PublicKeyCredential.toJSON()`.
 */
export class SoftAuthenticator {
  readonly #kept: Kept[] = []
  readonly #origin: string
  readonly #algorithm: SoftAlgorithm

  constructor({
    origin = 'http://localhost:3000',
    algorithm = 'ES256',
  }: { readonly origin?: string; readonly algorithm?: SoftAlgorithm } = {}) {
    this.#origin = origin
    this.#algorithm = algorithm
  }

  /** Makes a passkey, as `navigator.credentials.create()`. */
  create({ challenge, rp, user }: SoftCreation, changes: SoftChanges = {}) {
    const { privateKey: key, publicKey } = keyPair(this.#algorithm)
    const id = randomBytes(32)
    this.#kept.push({ id, key, rpId: rp.id, userHandle: user.id })
    const data = Buffer.concat([
      authenticatorData(rp.id, { ...changes, flags: (changes.flags ?? FLAGS) | CREDENTIAL }),
      Buffer.alloc(16),
      hex('0020'),
      id,
      coseKey(publicKey, this.#algorithm),
    ])
    const length = Buffer.alloc(2)
    length.writeUInt16BE(data.length)
    const attestation = [
      hex('a3 63666d74 646e6f6e65 6761747453746d74 a0 686175746844617461 59'),
      length,
      data,
    ]
    return credential(id, {
      clientDataJSON: this.#clientData('webauthn.create', challenge, changes).toString('base64url'),
      authenticatorData: data.toString('base64url'),
      attestationObject: Buffer.concat(attestation).toString('base64url'),
      publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64url'),
      publicKeyAlgorithm: NUMBERS[this.#algorithm],
      transports: ['internal'],
    })
  }

  /** Signs with its newest passkey of the domain, as `navigator.credentials.get()`. @throws Error without one. */
  get({ challenge, rpId }: SoftRequest, changes: SoftChanges = {}) {
    const kept = this.#kept.findLast((each) => each.rpId === rpId)
    if (kept === undefined) throw new Error(`The authenticator has no passkey of ${rpId}.`)
    const data = authenticatorData(rpId, changes)
    const client = this.#clientData('webauthn.get', challenge, changes)
    const hash = this.#algorithm === 'Ed25519' ? null : 'sha256'
    return credential(kept.id, {
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: sign(hash, Buffer.concat([data, sha256(client)]), kept.key).toString('base64url'),
      userHandle: changes.userHandle ?? kept.userHandle,
    })
  }

  #clientData(type: string, challenge: string, { client = {} }: SoftChanges): Buffer {
    return Buffer.from(
      JSON.stringify({ type, challenge, origin: this.#origin, crossOrigin: false, ...client }),
    )
  }
}

function credential<Response>(id: Buffer, response: Response) {
  const text = id.toString('base64url')
  return { id: text, rawId: text, type: 'public-key' as const, response, clientExtensionResults: {} }
}

function authenticatorData(
  rpId: string,
  { flags = FLAGS, counter = 0, rpId: other = rpId }: SoftChanges,
): Buffer {
  const rest = Buffer.alloc(5)
  rest.writeUInt8(flags)
  rest.writeUInt32BE(counter, 1)
  return Buffer.concat([sha256(other), rest])
}

function keyPair(algorithm: SoftAlgorithm) {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  if (algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 })
  return generateKeyPairSync('ed25519')
}

/** The key as an authenticator writes it (RFC 9053). */
function coseKey(key: KeyObject, algorithm: SoftAlgorithm): Buffer {
  const jwk = key.export({ format: 'jwk' })
  const part = (name: string) => Buffer.from(jwk[name] as string, 'base64url')
  if (algorithm === 'ES256')
    return Buffer.concat([hex('a5 0102 0326 2001 215820'), part('x'), hex('225820'), part('y')])
  if (algorithm === 'RS256')
    return Buffer.concat([hex('a4 0103 03390100 20590100'), part('n'), hex('2143'), part('e')])
  return Buffer.concat([hex('a4 0101 0327 2006 215820'), part('x')])
}
