import { generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto'
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import { decodeAttestationObject, isoCBOR } from '@simplewebauthn/server/helpers'
import { SoftAuthenticator, type SoftChanges } from '@mortar/auth/testing'
import { expect } from 'chai'
import {
  challengeOf,
  PasskeyRefused,
  verifyAssertion,
  verifyRegistration,
  type NewPasskey,
} from '../../../../../plugins/auth/features/passkeys/verify.ts'
import { Random } from '../../../../schema/support/random.ts'
import { seedFor } from '../../../../support/seed.ts'

const ORIGIN = 'http://localhost:3000'
const PARTY = { id: 'localhost', name: 'Notes', origins: [ORIGIN] }
const CHALLENGE = randomBytes(32).toString('base64url')
const ALGORITHMS = ['ES256', 'RS256', 'Ed25519'] as const

type Created = ReturnType<SoftAuthenticator['create']>
type Got = ReturnType<SoftAuthenticator['get']>

const creation = { challenge: CHALLENGE, rp: { id: 'localhost' }, user: { id: 'A'.repeat(43) } }
const request = { challenge: CHALLENGE, rpId: 'localhost' }
/** False for a refusal. Any other error of the verifier fails the test: it would be a 500. */
const accepts = (check: () => unknown) => {
  try {
    return check() !== false
  } catch (error) {
    if (!(error instanceof PasskeyRefused)) throw error
    return false
  }
}
const passes = async (check: () => unknown) => {
  try {
    return (await check()) !== false
  } catch {
    return false
  }
}

/** The verdicts of this package and of SimpleWebAuthn about a registration. */
const judgeCreated = async (response: Created) => [
  accepts(() => challengeOf(response) === CHALLENGE && verifyRegistration(response, PARTY)),
  await passes(async () => {
    const options = { expectedChallenge: CHALLENGE, expectedOrigin: ORIGIN, expectedRPID: 'localhost' }
    return (await verifyRegistrationResponse({ response, ...options })).verified
  }),
]

/** The same about an assertion. SimpleWebAuthn reads the key of the attestation. */
const judgeGot = async (response: Got, created: Created, stored: NewPasskey, counter = 0) => {
  const attested = isoBytes(created.response.attestationObject)
  const data = decodeAttestationObject(attested).get('authData')
  const publicKey = new Uint8Array(data.subarray(55 + 32))
  expect(isoCBOR.decodeFirst(publicKey)).to.be.instanceOf(Map)
  return [
    accepts(() => {
      const { counter: used } = verifyAssertion(response, stored, PARTY)
      return challengeOf(response) === CHALLENGE && (used > counter || (used === 0 && counter === 0))
    }),
    await passes(async () => {
      const options = { expectedChallenge: CHALLENGE, expectedOrigin: ORIGIN, expectedRPID: 'localhost' }
      const credential = { id: response.id, publicKey, counter }
      return (await verifyAuthenticationResponse({ response, ...options, credential })).verified
    }),
  ]
}

function isoBytes(text: string) {
  return new Uint8Array(Buffer.from(text, 'base64url'))
}

/** Deviations that both refuse. */
const CASES: Readonly<Record<string, SoftChanges>> = {
  'another challenge': { client: { challenge: randomBytes(32).toString('base64url') } },
  'an empty challenge': { client: { challenge: '' } },
  'no challenge': { client: { challenge: undefined } },
  'the other ceremony': { client: { type: 'webauthn.other' } },
  'another origin': { client: { origin: 'https://evil.example' } },
  'another port': { client: { origin: 'http://localhost:3001' } },
  'the origin with a slash': { client: { origin: `${ORIGIN}/` } },
  'an origin that is an object': { client: { origin: { toString: 1 } } },
  'a list as origin': { client: { origin: [ORIGIN] } },
  'another scheme': { client: { origin: 'https://localhost:3000' } },
  'another domain': { rpId: 'evil.example' },
  'a subdomain': { rpId: 'sub.localhost' },
  'a user who is absent': { flags: 0x04 },
  'a user who is not verified': { flags: 0x01 },
  'no flags': { flags: 0 },
  'a backup that cannot be': { flags: 0x15 },
}

describe('The verifier of passkeys, beside SimpleWebAuthn', () => {
  for (const algorithm of ALGORITHMS) {
    it(`accepts valid responses, with ${algorithm}`, async () => {
      const device = new SoftAuthenticator({ algorithm })
      const created = device.create(creation)
      expect(await judgeCreated(created)).to.deep.equal([true, true])
      const stored = verifyRegistration(created, PARTY)
      expect(stored).to.include({ isBackedUp: true, counter: 0, credentialId: created.id })
      expect(stored.aaguid).to.equal('00000000-0000-0000-0000-000000000000')
      expect(await judgeGot(device.get(request), created, stored)).to.deep.equal([true, true])
      expect(await judgeGot(device.get(request, { counter: 9 }), created, stored, 8)).to.deep.equal([
        true,
        true,
      ])
      for (const [counter, before] of [
        [9, 9],
        [8, 9],
        [0, 9],
      ] as const)
        expect(await judgeGot(device.get(request, { counter }), created, stored, before)).to.deep.equal([
          false,
          false,
        ])
    })

    it(`refuses a wrong signature and a foreign key, with ${algorithm}`, async () => {
      const device = new SoftAuthenticator({ algorithm })
      const created = device.create(creation)
      const stored = verifyRegistration(created, PARTY)
      const got = device.get(request)
      for (const signature of [
        '',
        'AAAA',
        '_'.repeat(86),
        'A'.repeat(2048),
        got.response.signature.slice(4),
        `${got.response.signature}AAAA`,
      ])
        expect(
          (await judgeGot({ ...got, response: { ...got.response, signature } }, created, stored))[0],
          signature,
        ).to.equal(false)
      const other = new SoftAuthenticator({ algorithm })
      other.create(creation)
      expect(await judgeGot(other.get(request), created, stored)).to.deep.equal([false, false])
    })
  }

  for (const [what, changes] of Object.entries(CASES))
    it(`refuses ${what}, in both ceremonies`, async () => {
      const device = new SoftAuthenticator()
      const created = device.create(creation)
      const stored = verifyRegistration(created, PARTY)
      expect(await judgeGot(device.get(request, changes), created, stored)).to.deep.equal([false, false])
      expect(await judgeCreated(device.create(creation, changes))).to.deep.equal([false, false])
    })

  for (const [what, client, oracle] of [
    ['a page in a frame', { crossOrigin: true }, [true, true]],
    ['a frame with its top origin', { crossOrigin: true, topOrigin: 'https://evil.example' }, [false, true]],
    ['a top origin without a frame', { topOrigin: 'https://evil.example' }, [false, true]],
  ] as const)
    it(`refuses ${what}, where SimpleWebAuthn is not as strict`, async () => {
      const device = new SoftAuthenticator()
      const created = device.create(creation)
      const stored = verifyRegistration(created, PARTY)
      const verdicts = [
        await judgeGot(device.get(request, { client }), created, stored),
        await judgeCreated(device.create(creation, { client })),
      ]
      expect(verdicts.map(([own]) => own)).to.deep.equal([false, false])
      expect(verdicts.map(([, other]) => other)).to.deep.equal(oracle)
    })

  it('takes no response of one ceremony for the other', async () => {
    const device = new SoftAuthenticator()
    const stored = verifyRegistration(device.create(creation), PARTY)
    const got = device.get(request, { client: { type: 'webauthn.create' } })
    expect(accepts(() => verifyAssertion(got, stored, PARTY))).to.equal(false)
    const created = device.create(creation, { client: { type: 'webauthn.get' } })
    expect(await judgeCreated(created)).to.deep.equal([false, false])
  })

  it('refuses keys that are not of their algorithm, too weak, too long, or not a key', async () => {
    const made = (algorithm: (typeof ALGORITHMS)[number]) =>
      new SoftAuthenticator({ algorithm }).create(creation)
    const [ec, rsa, ed] = ALGORITHMS.map(made) as [Created, Created, Created]
    const spki = (key: { readonly publicKey: KeyObject }) =>
      key.publicKey.export({ format: 'der', type: 'spki' }).toString('base64url')
    const keys: readonly (readonly [string, number])[] = [
      [rsa.response.publicKey, -7],
      [ed.response.publicKey, -7],
      [ec.response.publicKey, -257],
      [ec.response.publicKey, -8],
      [ec.response.publicKey, -37],
      [ec.response.publicKey, 0],
      [spki(generateKeyPairSync('rsa', { modulusLength: 1024 })), -257],
      [spki(generateKeyPairSync('ec', { namedCurve: 'P-384' })), -7],
      [spki(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })), -7],
      [spki(generateKeyPairSync('x25519')), -8],
      [spki(generateKeyPairSync('ed448')), -8],
      ['AAAA', -7],
      ['', -7],
    ]
    for (const [publicKey, publicKeyAlgorithm] of keys) {
      const response = { ...ec.response, publicKey, publicKeyAlgorithm }
      expect(
        accepts(() => verifyRegistration({ ...ec, response }, PARTY)),
        publicKey,
      ).to.equal(false)
    }
  })

  it('agrees about 600 responses with changed bytes', async () => {
    const random = new Random(seedFor('assertions'))
    const device = new SoftAuthenticator()
    const created = device.create(creation)
    const stored = verifyRegistration(created, PARTY)
    const seen = { true: 0, false: 0 }
    for (let round = 0; round < 600; round++) {
      const got = device.get(request)
      const part = random.pick(['clientDataJSON', 'authenticatorData', 'signature'] as const)
      const bytes = Buffer.from(got.response[part], 'base64url')
      const changed = change(bytes, random)
      const response = { ...got.response, [part]: changed.toString('base64url') }
      const [own, oracle] = await judgeGot({ ...got, response }, created, stored)
      // SimpleWebAuthn ignores bytes after the signature.
      if (own !== oracle)
        expect([own, part], `${round} ${changed.toString('hex')}`).to.deep.equal([false, 'signature'])
      seen[String(own) as 'true' | 'false'] += 1
    }
    // One change in eight changes nothing.
    expect(seen.true).to.be.above(20)
    expect(seen.false).to.be.above(400)
  })

  it('accepts no registration with changed bytes that SimpleWebAuthn refuses', async () => {
    const random = new Random(seedFor('registrations'))
    const device = new SoftAuthenticator()
    let accepted = 0
    for (let round = 0; round < 600; round++) {
      const created = device.create(creation)
      const isData = random.chance(0.5)
      const bytes = Buffer.from(
        isData ? created.response.authenticatorData : created.response.clientDataJSON,
        'base64url',
      )
      // Up to the key, which is not parsed here.
      const changed = change(isData ? bytes.subarray(0, 87) : bytes, random)
      const response = isData
        ? withData(created, Buffer.concat([changed, bytes.subarray(87)]))
        : { ...created.response, clientDataJSON: changed.toString('base64url') }
      const [own, oracle] = await judgeCreated({ ...created, response })
      // Extensions and the key after the id are neither signed nor read here.
      const isUnread = isData && (changed.length > 87 || changed[32]! >= 0x80)
      if (own && !isUnread) expect(oracle, `${round} ${changed.toString('hex')}`).to.equal(true)
      accepted += Number(own)
    }
    expect(accepted).to.be.within(20, 400)
  })
})

/** A registration with other authenticator data, also in the attestation, which SimpleWebAuthn reads. */
function withData({ response }: Created, data: Buffer): Created['response'] {
  const head = Buffer.from(response.attestationObject, 'base64url').subarray(0, 30)
  const before = head.subarray(0, head.indexOf('authData') + 'authData'.length + 1)
  const length = Buffer.from([data.length >> 8, data.length & 0xff])
  return {
    ...response,
    authenticatorData: data.toString('base64url'),
    attestationObject: Buffer.concat([before, length, data]).toString('base64url'),
  }
}

/** Flips a bit, writes a byte, cuts, appends, or changes nothing. */
function change(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  const at = random.below(copy.length)
  const kind = random.below(8)
  if (kind < 4) copy[at]! ^= 1 << random.below(8)
  else if (kind === 4) copy[at] = random.below(256)
  else if (kind === 5) return copy.subarray(0, at)
  else if (kind === 6) return Buffer.concat([copy, Buffer.from([random.below(256)])])
  return copy
}
