import { expect } from 'chai'
import { SoftAuthenticator } from '@mortar/auth/testing'
import {
  add,
  assertion,
  begin,
  bob,
  claimsOf,
  countOf,
  logIn,
  outcome,
  passwordless,
  registered,
  together,
  withPasskeys,
} from '../../support/passkey-scene.ts'
import { onEachDatabase } from '../../support/on-each-store.ts'
import { ADA, signedUp } from '../../support/world.ts'

const INVALID = [401, 'invalid_passkey']

/** Another spelling of the same bytes: the last character has two bits that mean nothing. */
const respelled = (id: string) => id.slice(0, -1) + String.fromCodePoint(id.codePointAt(id.length - 1)! + 1)

onEachDatabase('passkeys()', (inWorld) => {
  for (const algorithm of ['ES256', 'RS256', 'Ed25519'] as const)
    it(`signs a user in by a key of ${algorithm}, with both factors`, () =>
      inWorld(withPasskeys({ rpName: 'Paper Trail' }), async (world) => {
        const client = await signedUp(world)
        const device = new SoftAuthenticator({ algorithm })
        const options = await begin(client)
        expect(options).to.deep.include({
          rp: { id: 'localhost', name: 'Paper Trail' },
          excludeCredentials: [],
          attestation: 'none',
          authenticatorSelection: {
            residentKey: 'required',
            requireResidentKey: true,
            userVerification: 'required',
          },
        })
        expect(options.user).to.include({ name: ADA.email, displayName: ADA.name })
        expect(options.user.id).to.match(/^[\w-]{43}$/)
        const added = await client.post('/auth/passkeys', {
          response: device.create(options),
          name: ' Phone ',
        })
        expect(added.status, added.text).to.equal(201)
        expect(added.body).to.deep.include({ name: 'Phone', backedUp: true, lastUsedAt: null })
        const again = await begin(client)
        expect(again.user.id).to.equal(options.user.id)
        expect(again.excludeCredentials).to.have.length(1)

        const phone = world.client()
        const answer = await logIn(phone, device)
        expect(answer.status, answer.text).to.equal(200)
        expect(answer.body.user).to.include({ email: ADA.email })
        expect(claimsOf(phone)['amr']).to.deep.equal(['pk', 'mfa'])
        expect((await phone.post('/auth/refresh')).status).to.equal(200)
        expect(claimsOf(phone)['amr']).to.deep.equal(['pk', 'mfa'])
        expect([(await phone.get('/strong')).status, (await client.get('/strong')).status]).to.deep.equal([
          200, 403,
        ])
        const { passkeys } = (await phone.get('/auth/passkeys')).body
        expect(passkeys.map(({ lastUsedAt }: { lastUsedAt: string }) => lastUsedAt)).to.deep.equal([
          new Date(world.clock.now()).toISOString(),
        ])
        expect(world.typesOf().filter((type) => type.startsWith('auth.passkey'))).to.deep.equal([
          'auth.passkey.added',
          'auth.passkey.succeeded',
        ])
      }))

  it('lets one of 32 uses of an assertion win, of a registration, and of a copied counter', () =>
    inWorld(withPasskeys(), async (world) => {
      const client = await signedUp(world)
      const device = new SoftAuthenticator()
      const response = device.create(await begin(client))
      const added = await together(32, () =>
        client.copy().post('/auth/passkeys', { response, name: 'Phone' }),
      )
      expect([countOf(added, 201), countOf(added, 401)]).to.deep.equal([1, 31])
      const one = await assertion(world.client(), device)
      const uses = await together(32, () => world.client().post('/auth/login/passkey', { response: one }))
      expect([countOf(uses, 200), countOf(uses, 401)]).to.deep.equal([1, 31])
      const many = await together(32, () => logIn(world.client(), device))
      expect(countOf(many, 200)).to.equal(32)
      const counted = await together(32, () => logIn(world.client(), device, { counter: 7 }))
      expect([countOf(counted, 200), countOf(counted, 401)]).to.deep.equal([1, 31])
      expect(world.typesOf().filter((type) => type === 'auth.passkey.copied')).to.have.length(31)
      expect(await world.storage.rows('auth_passkeys')).to.have.length(1)
    }))

  it('shows if it is synchronised now, whatever it was before', () =>
    inWorld(withPasskeys(), async (world) => {
      const [local, synchronised] = [0x0d, 0x1d]
      const { client, device } = await registered(world, undefined, { flags: local })
      const isBackedUp = async () => (await client.get('/auth/passkeys')).body.passkeys[0].backedUp as boolean
      const shown = [await isBackedUp()]
      for (const flags of [synchronised, local]) {
        expect((await logIn(world.client(), device, { flags })).status).to.equal(200)
        shown.push(await isBackedUp())
      }
      expect(shown).to.deep.equal([false, true, false])
    }))

  it('refuses a counter that does not rise, and keeps the passkey', () =>
    inWorld(withPasskeys(), async (world) => {
      const { device } = await registered(world, undefined, { counter: 5 })
      for (const [counter, status] of [
        [6, 200],
        [6, 401],
        [5, 401],
        [0, 401],
        [4_294_967_295, 200],
      ] as const)
        expect((await logIn(world.client(), device, { counter })).status, String(counter)).to.equal(status)
      expect(world.typesOf().filter((type) => type === 'auth.passkey.copied')).to.have.length(3)
    }))

  it('ends with its removal, by its user alone', () =>
    inWorld(withPasskeys(), async (world) => {
      const { client, device, passkey } = await registered(world)
      const other = await bob(world)
      const path = `/auth/passkeys/${passkey.id}`
      expect(outcome(await other.delete(path))).to.deep.equal([404, 'unknown_passkey'])
      const response = await assertion(world.client(), device)
      expect((await client.delete(path)).status).to.equal(204)
      expect(outcome(await client.delete(path))).to.deep.equal([404, 'unknown_passkey'])
      expect(outcome(await world.client().post('/auth/login/passkey', { response }))).to.deep.equal(INVALID)
      expect((await client.get('/auth/passkeys')).body).to.deep.equal({ passkeys: [] })
    }))

  it('keeps the last way in, also of 16 concurrent removals', () =>
    inWorld(withPasskeys(), async (world) => {
      const { client, device, passkey } = await passwordless(world)
      expect(outcome(await client.delete(`/auth/passkeys/${passkey.id}`))).to.deep.equal([409, 'last_way_in'])
      await add(client, new SoftAuthenticator())
      const { passkeys } = (await client.get('/auth/passkeys')).body
      const answers = await together(16, (index) =>
        client.copy().delete(`/auth/passkeys/${passkeys[index % 2].id}`),
      )
      expect(countOf(answers, 204)).to.be.at.most(1)
      expect((await client.get('/auth/passkeys')).body.passkeys).to.have.length.of.at.least(1)
      const left = (await world.storage.rows('auth_passkeys')).some(({ id }) => id === passkey.id)
      expect((await logIn(world.client(), device)).status).to.equal(left ? 200 : 401)
    }))

  it('is not of two users, in any spelling of its id', () =>
    inWorld(withPasskeys(), async (world) => {
      const { device } = await registered(world)
      const other = await bob(world)
      const options = await begin(other)
      const thief = new SoftAuthenticator()
      const own = thief.create(options)
      const [stored] = await world.storage.rows('auth_passkeys')
      const id = Buffer.from(stored.credential_id, 'base64url')
      const data = Buffer.from(own.response.authenticatorData, 'base64url')
      id.copy(data, 55)
      const authenticatorData = data.toString('base64url')
      for (const spelling of [
        stored.credential_id,
        respelled(stored.credential_id),
        `${stored.credential_id}A`,
      ]) {
        const { challenge } = await begin(other)
        const client = { type: 'webauthn.create', challenge, origin: 'http://localhost:3000' }
        const clientDataJSON = Buffer.from(JSON.stringify(client)).toString('base64url')
        const response = {
          ...own,
          id: spelling,
          response: { ...own.response, authenticatorData, clientDataJSON },
        }
        expect(outcome(await other.post('/auth/passkeys', { response, name: 'Mine' }))).to.be.deep.oneOf([
          [409, 'passkey_exists'],
          INVALID,
        ])
      }
      expect(await world.storage.rows('auth_passkeys')).to.have.length(1)
      expect((await logIn(world.client(), device)).body.user.email).to.equal(ADA.email)
    }))

  it('goes with its user', () =>
    inWorld(withPasskeys(), async (world) => {
      const { device } = await registered(world)
      const response = await assertion(world.client(), device)
      await world.storage.deleteUsers()
      expect(outcome(await world.client().post('/auth/login/passkey', { response }))).to.deep.equal(INVALID)
      expect(await world.storage.rows('auth_passkeys')).to.deep.equal([])
    }))
})
