import { expect } from 'chai'
import { SoftAuthenticator, totpCode, type SoftChanges } from '@mortar/auth/testing'
import { totp } from '@mortar/auth/totp'
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
import { onEachStore } from '../../support/on-each-store.ts'
import { ADA, PASSWORD, resetTokenFor, type World } from '../../support/world.ts'
import type { Client } from '../../support/client.ts'

const INVALID = [401, 'invalid_passkey']
const NEXT = 'another horse battery'
const providerOf = ({ app }: World) =>
  (
    app.services as unknown as {
      authProvider: Record<'disable' | 'signOut', (id: string) => Promise<unknown>>
    }
  ).authProvider
const sendLogIn = (client: Client, response: object) => client.post('/auth/login/passkey', { response })

/** Deviations that an authenticator or a page can sign, and that no ceremony accepts. */
const DEVIATIONS: Readonly<Record<string, SoftChanges>> = {
  'of a page of another origin': { client: { origin: 'https://evil.example' } },
  'of another port': { client: { origin: 'http://localhost:3001' } },
  'of a frame': { client: { crossOrigin: true } },
  'of another domain': { rpId: 'evil.example' },
  'whose user was not verified': { flags: 0x19 },
  'whose user was absent': { flags: 0x1c },
  'with a challenge of nobody': { client: { challenge: 'A'.repeat(43) } },
  'with an empty challenge': { client: { challenge: '' } },
  'with a number as challenge': { client: { challenge: 7 } },
  'of another ceremony': { client: { type: 'payment.get' } },
}

onEachStore('A passkey', (inWorld) => {
  for (const [what, changes] of Object.entries(DEVIATIONS))
    it(`is refused ${what}, at a login and when it is added`, () =>
      inWorld(withPasskeys(), async (world) => {
        const { client, device } = await registered(world)
        const intruder = world.client()
        expect(outcome(await logIn(intruder, device, changes))).to.deep.equal(INVALID)
        expect(intruder.cookies.size).to.equal(0)
        expect(world.events.at(-1)).to.deep.include({ type: 'auth.passkey.failed' })
        expect(world.events.at(-1)!.event['reason']).to.equal('invalid_passkey')
        expect(outcome(await add(client, new SoftAuthenticator(), changes))).to.deep.equal(INVALID)
        expect(await world.storage.rows('auth_passkeys')).to.have.length(1)
        expect((await logIn(world.client(), device)).status).to.equal(200)
      }))

  it('has a challenge for five minutes, one use, one ceremony and one user', () =>
    inWorld(withPasskeys(), async (world) => {
      const { client, device } = await registered(world)
      const other = await bob(world)
      const used = await assertion(world.client(), device)
      expect((await sendLogIn(world.client(), used)).status).to.equal(200)
      const late = await assertion(world.client(), device)
      const spent = await assertion(world.client(), device, { flags: 0 })
      expect((await sendLogIn(world.client(), spent)).status).to.equal(401)
      // The challenge of a refused response is used up too.
      const { challenge } = JSON.parse(
        Buffer.from(spent.response.clientDataJSON, 'base64url').toString(),
      ) as { challenge: string }
      const own = device.get({ challenge, rpId: 'localhost' })
      const registration = (await begin(client)).challenge
      const confirmation = (await client.post('/auth/passkeys/confirm/options')).body.challenge
      const login = (await client.post('/auth/login/passkey/options')).body.challenge
      for (const response of [
        used,
        own,
        device.get({ challenge: registration, rpId: 'localhost' }),
        device.get({ challenge: confirmation, rpId: 'localhost' }),
      ])
        expect(outcome(await sendLogIn(world.client(), response))).to.deep.equal(INVALID)
      const create = (given: string) => {
        const options = { challenge: given, rp: { id: 'localhost' }, user: { id: 'A'.repeat(43) } }
        return { response: new SoftAuthenticator().create(options), name: 'Phone' }
      }
      for (const [who, given] of [
        [client, login],
        [client, confirmation],
        [other, registration],
      ] as const)
        expect(outcome(await who.post('/auth/passkeys', create(given)))).to.deep.equal(INVALID)
      const confirm = (who: Client, given: string) =>
        who.post('/auth/confirm', { passkey: device.get({ challenge: given, rpId: 'localhost' }) })
      for (const [who, given] of [
        [client, login],
        [client, registration],
        [other, confirmation],
      ] as const)
        expect(outcome(await confirm(who, given))).to.deep.equal(INVALID)
      world.clock.advance(300)
      expect(outcome(await sendLogIn(world.client(), late))).to.deep.equal(INVALID)
    }))

  it('signs in its owner alone, by the handle that is stored with it', () =>
    inWorld(withPasskeys(), async (world) => {
      const { device } = await registered(world)
      const other = await bob(world)
      const theirs = new SoftAuthenticator()
      await add(other, theirs)
      const foreign = (await begin(other)).user.id
      expect(outcome(await logIn(world.client(), device, { userHandle: foreign }))).to.deep.equal(INVALID)
      const response = await assertion(world.client(), device)
      const { userHandle: _userHandle, ...nameless } = response.response
      expect(outcome(await sendLogIn(world.client(), { ...response, response: nameless }))).to.deep.equal(
        INVALID,
      )
      // The id of one passkey with the signature of another.
      const mixed = { ...(await assertion(world.client(), theirs)), id: response.id }
      expect(outcome(await sendLogIn(world.client(), mixed))).to.deep.equal(INVALID)
    }))

  it('goes with the first proof of the mailbox, and stays with a later reset', () =>
    inWorld(withPasskeys(), async (world) => {
      // Somebody has registered the address of another.
      const { client, device } = await registered(world)
      const reset = async (password: string) => {
        const token = await resetTokenFor(world)
        expect((await world.client().post('/auth/reset-password', { token, password })).status).to.equal(200)
      }
      const pending = new SoftAuthenticator().create(await begin(client))
      await reset(NEXT)
      expect(outcome(await logIn(world.client(), device))).to.deep.equal(INVALID)
      expect((await client.post('/auth/passkeys', { response: pending, name: 'Mine' })).status).to.equal(401)
      const owner = world.client()
      await owner.post('/auth/login', { ...ADA, password: NEXT })
      const own = new SoftAuthenticator()
      expect((await add(owner, own)).status).to.equal(201)
      await reset(PASSWORD)
      expect((await logIn(world.client(), own)).status).to.equal(200)
    }))

  it('signs in no disabled account', () =>
    inWorld(withPasskeys(), async (world) => {
      const { device } = await registered(world)
      const [{ id }] = await world.storage.users()
      await providerOf(world).disable(id)
      expect(outcome(await logIn(world.client(), device))).to.deep.equal(INVALID)
      expect(await world.storage.sessions()).to.deep.equal([])
    }))

  it('proves its user again without a password, under a new session', () =>
    inWorld(withPasskeys(), async (world) => {
      const { client, device } = await passwordless(world)
      world.clock.advance(601)
      await client.post('/auth/refresh')
      const stale = await client.post('/auth/passkeys/options')
      expect(outcome(stale)).to.deep.equal([403, 'reauthentication_required'])
      const options = (await client.post('/auth/passkeys/confirm/options')).body
      expect(options.allowCredentials).to.have.length(1)
      const passkey = device.get(options)
      expect((await client.post('/auth/confirm', {})).status).to.equal(422)
      expect(outcome(await client.post('/auth/confirm', { password: PASSWORD }))).to.deep.equal([
        401,
        'invalid_credentials',
      ])
      const session = claimsOf(client)['sid']
      const answers = await together(16, () => client.copy().post('/auth/confirm', { passkey }))
      expect([countOf(answers, 200), countOf(answers, 401)]).to.deep.equal([1, 15])
      client.accessToken = answers.find(({ status }) => status === 200)!.body.accessToken
      expect(claimsOf(client)['amr']).to.deep.equal(['pk', 'mfa'])
      expect(claimsOf(client)['sid']).to.not.equal(session)
      expect((await begin(client)).challenge).to.be.a('string')
      const other = await bob(world)
      const foreign = device.get((await other.post('/auth/passkeys/confirm/options')).body)
      expect(outcome(await other.post('/auth/confirm', { passkey: foreign }))).to.deep.equal(INVALID)
    }))

  it('that is required is asked for by every way in, and by a confirmation and a change of the password', () =>
    inWorld(withPasskeys({ required: true }), async (world) => {
      const { client, device } = await registered(world)
      const asked = await world.client().post('/auth/login', ADA)
      expect(outcome(asked)).to.deep.equal([401, 'second_factor_required'])
      expect(asked.body.methods).to.deep.equal(['passkey'])
      expect(asked.setCookie).to.equal(undefined)
      expect(world.typesOf().at(-1)).to.equal('auth.login.challenged')
      for (const [path, body] of [
        ['/auth/confirm', { password: PASSWORD }],
        ['/auth/change-password', { current: PASSWORD, next: NEXT }],
      ] as const) {
        expect(outcome(await client.post(path, body)), path).to.deep.equal([401, 'second_factor_required'])
        const passkey = device.get((await client.post('/auth/passkeys/confirm/options')).body)
        expect((await client.post(path, { ...body, passkey })).status, path).to.equal(200)
        const changed = device.get((await client.post('/auth/passkeys/confirm/options')).body, { flags: 1 })
        expect((await client.post(path, { ...body, current: NEXT, passkey: changed })).status, path).to.equal(
          401,
        )
      }
      expect(claimsOf(client)['amr']).to.deep.equal(['pwd', 'pk', 'mfa'])
      expect((await logIn(world.client(), device)).status).to.equal(200)
      const without = await bob(world)
      expect((await without.post('/auth/login', { ...ADA, email: 'bob@example.com' })).status).to.equal(200)
    }))

  it('replaces the code of totp(), which the other ways ask for', () =>
    inWorld(withPasskeys({}, [totp()]), async (world) => {
      const { client, device } = await registered(world)
      const { secret } = (await client.post('/auth/totp')).body
      await client.post('/auth/totp/confirm', { code: totpCode(secret, world.clock) })
      expect(outcome(await world.client().post('/auth/login', ADA))).to.deep.equal([
        401,
        'second_factor_required',
      ])
      const phone = world.client()
      expect((await logIn(phone, device)).status).to.equal(200)
      expect(claimsOf(phone)['amr']).to.deep.equal(['pk', 'mfa'])
      const body = { current: PASSWORD, next: NEXT }
      expect(outcome(await phone.post('/auth/change-password', body))).to.deep.equal([
        401,
        'second_factor_required',
      ])
      const passkey = device.get((await phone.post('/auth/passkeys/confirm/options')).body)
      expect((await phone.post('/auth/change-password', { ...body, passkey })).status).to.equal(200)
    }))

  for (const [what, run] of CRASHES())
    it(`is never half done when the process ends within ${what}`, () =>
      inWorld(withPasskeys(), async (world) => {
        for (let statement = 1; ; statement++) {
          await world.storage.deleteUsers()
          const scene = await registered(world)
          const act = await run(world, scene)
          const fault = world.storage.interruptions.failFrom(statement)
          const { status } = await act()
          fault.restore()
          const when = `before statement ${statement}`
          expect(status, when).to.be.oneOf(fault.reached() ? [200, 201, 204, 500, 503] : [200, 201, 204])
          // The password and the first passkey still sign in, unless it was removed.
          expect((await world.client().post('/auth/login', ADA)).status, when).to.equal(200)
          const { passkeys: left } = (await scene.client.get('/auth/passkeys')).body
          const isLeft = (left as { id: string }[]).some(({ id }) => id === scene.passkey.id)
          expect((await logIn(world.client(), scene.device)).status, when).to.equal(isLeft ? 200 : 401)
          if (what !== 'its removal') expect(isLeft, when).to.equal(true)
          if (!fault.reached()) break
        }
      }))
})

type Registered = Awaited<ReturnType<typeof registered>>
type Prepared = (world: World, scene: Registered) => Promise<() => Promise<{ status: number }>>

function CRASHES(): readonly (readonly [string, Prepared])[] {
  return [
    [
      'a login',
      async (world, { device }) => {
        const response = await assertion(world.client(), device)
        return () => sendLogIn(world.client(), response)
      },
    ],
    [
      'its registration',
      async (_world, { client }) => {
        const response = new SoftAuthenticator().create(await begin(client))
        return () => client.post('/auth/passkeys', { response, name: 'Second' })
      },
    ],
    [
      'its removal',
      async (_world, { client, passkey }) =>
        () =>
          client.delete(`/auth/passkeys/${passkey.id}`),
    ],
  ]
}
