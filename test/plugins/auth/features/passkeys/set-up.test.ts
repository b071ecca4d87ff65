import { expect } from 'chai'
import { account } from '@mortar/auth/account'
import { notices } from '@mortar/auth/notices'
import { passkeys } from '@mortar/auth/passkeys'
import { sessions } from '@mortar/auth/sessions'
import { SoftAuthenticator } from '@mortar/auth/testing'
import { totp } from '@mortar/auth/totp'
import { accountCommands } from '../../../../../plugins/auth/commands.ts'
import {
  add,
  assertion,
  begin,
  logIn,
  outcome,
  passwordless,
  registered,
  together,
  withPasskeys,
} from '../../support/passkey-scene.ts'
import { failureOf } from '../../support/failure-of.ts'
import { disabledLikeWrongPassword } from '../../support/second-factor.ts'
import { ADA, inWorld as onSqlite, resetTokenFor, settle, signedUp } from '../../support/world.ts'

const INVALID = [401, 'invalid_passkey']
const NEXT = 'another horse battery'

describe('A passkey', () => {
  it('is managed with a recent proof alone', () =>
    onSqlite(withPasskeys(), async (world) => {
      const { client, passkey } = await registered(world)
      const response = new SoftAuthenticator().create(await begin(client))
      world.clock.advance(601)
      await client.post('/auth/refresh')
      for (const answer of [
        await client.post('/auth/passkeys/options'),
        await client.delete(`/auth/passkeys/${passkey.id}`),
      ])
        expect(outcome(answer)).to.deep.equal([403, 'reauthentication_required'])
      // The challenge of a recent proof has expired too.
      expect((await client.post('/auth/passkeys', { response, name: 'Late' })).status).to.equal(401)
      for (const [method, path] of [
        ['post', '/auth/passkeys/options'],
        ['post', '/auth/passkeys'],
        ['post', '/auth/passkeys/confirm/options'],
        ['get', '/auth/passkeys'],
        ['delete', `/auth/passkeys/${passkey.id}`],
      ] as const)
        expect((await world.client()[method](path)).status, path).to.equal(401)
    }))

  it('is not added to an account that a reset takes meanwhile', () =>
    onSqlite(withPasskeys(), async (world) => {
      const client = await signedUp(world)
      const response = new SoftAuthenticator().create(await begin(client))
      const token = await resetTokenFor(world)
      await settle(world)
      let seen = 0
      // Between the use of the challenge and the statement that stores the passkey.
      world.storage.interruptions.gate = async (statement) => {
        if (statement === undefined && ++seen === 3)
          await world.client().post('/auth/reset-password', { token, password: NEXT })
      }
      expect((await client.post('/auth/passkeys', { response, name: 'Mine' })).status).to.equal(401)
      world.storage.interruptions.gate = () => undefined
      expect(seen).to.be.at.least(3)
      expect(await world.storage.rows('auth_passkeys')).to.deep.equal([])
    }))

  it('is not added by a session that ends meanwhile, even if its row is still stored', () =>
    onSqlite(withPasskeys(), async (world) => {
      const client = await signedUp(world)
      const response = new SoftAuthenticator().create(await begin(client))
      await settle(world)
      const { interruptions } = world.storage
      let seen = 0
      interruptions.gate = async (statement) => {
        if (statement !== undefined || ++seen !== 3) return
        interruptions.reject('delete sessions', 'disk full', 2)
        expect((await client.copy().post('/auth/logout')).status).to.equal(500)
      }
      expect((await client.post('/auth/passkeys', { response, name: 'Mine' })).status).to.equal(401)
      interruptions.gate = () => undefined
      expect(await world.storage.rows('auth_passkeys')).to.deep.equal([])
      expect(await world.storage.sessions()).to.have.length(1)
    }))

  it('is forgotten before a reset proves the address, so that no crash keeps one', () =>
    onSqlite(withPasskeys(), async (world) => {
      const { device } = await registered(world)
      const token = await resetTokenFor(world)
      const { interruptions } = world.storage
      interruptions.afterwards('update users', async () => interruptions.failAlways())
      await world.client().post('/auth/reset-password', { token, password: NEXT })
      interruptions.failAt(0)
      expect(outcome(await logIn(world.client(), device))).to.deep.equal(INVALID)
    }))

  it('is forgotten too if it is added between the two halves of such a reset', () =>
    onSqlite(withPasskeys(), async (world) => {
      const client = await signedUp(world)
      const response = new SoftAuthenticator().create(await begin(client))
      const token = await resetTokenFor(world)
      world.storage.interruptions.meanwhile('insert ended sessions', async () => {
        expect((await client.post('/auth/passkeys', { response, name: 'Mine' })).status).to.equal(201)
      })
      const reset = { token, password: NEXT }
      expect((await world.client().post('/auth/reset-password', reset)).status).to.equal(200)
      expect(await world.storage.rows('auth_passkeys')).to.deep.equal([])
    }))

  it('that is the last way in is not removed beside the other one, and by no crash', () =>
    onSqlite(withPasskeys(), async (world) => {
      const { client, passkey } = await passwordless(world)
      const { interruptions, rows } = world.storage
      for (let statement = 1; ; statement++) {
        const fault = interruptions.failFrom(statement)
        const { status } = await client.delete(`/auth/passkeys/${passkey.id}`)
        fault.restore()
        expect(await rows('auth_passkeys'), String(statement)).to.have.length(1)
        if (!fault.reached()) {
          expect(status).to.equal(409)
          break
        }
      }
      const second = (await add(client, new SoftAuthenticator())).body as { id: string }
      let seen = 0
      // Before the deletion, after the look-up of the other ways in.
      interruptions.gate = async (statement) => {
        if (statement !== undefined || ++seen !== 3) return
        expect((await client.copy().delete(`/auth/passkeys/${second.id}`)).status).to.equal(204)
      }
      const last = await client.delete(`/auth/passkeys/${passkey.id}`)
      interruptions.gate = () => undefined
      expect(outcome(last)).to.deep.equal([409, 'last_way_in'])
      expect((await rows('auth_passkeys')).map(({ id }) => id as string)).to.deep.equal([passkey.id])
    }))

  it('that is required is not asked for by a disabled account, which is refused like a wrong password', () =>
    onSqlite(withPasskeys({ required: true }), async (world) => {
      await registered(world)
      await disabledLikeWrongPassword(world)
    }))

  it('stores nothing for strangers who begin a login', () =>
    onSqlite(withPasskeys(), async (world) => {
      const challenges = await together(50, async () => {
        const { body } = await world.client().post('/auth/login/passkey/options')
        return body.challenge as string
      })
      expect(new Set(challenges).size).to.equal(50)
      expect(await world.storage.rows('auth_challenges')).to.deep.equal([])
    }))

  it('is in mails to its owner, and a copied one in an event', () => {
    const kinds: string[] = []
    const base = withPasskeys({}, [notices()])
    const auth = { ...base.auth, sendMail: ({ kind }: { kind: string }) => void kinds.push(kind) }
    return onSqlite({ ...base, auth }, async (world) => {
      const { client, device, passkey } = await registered(world, undefined, { counter: 9 })
      await logIn(world.client(), device, { counter: 9 })
      expect(world.typesOf().slice(-2)).to.deep.equal(['auth.passkey.copied', 'auth.passkey.failed'])
      await client.delete(`/auth/passkeys/${passkey.id}`)
      await settle(world)
      expect(kinds).to.deep.equal(['passkey-added', 'passkey-removed'])
    })
  })

  it('is removed by operators, with every other factor', () =>
    onSqlite(withPasskeys({ required: true }, [totp()]), async (world) => {
      const { device } = await registered(world)
      const run = (name: string, ...positionals: string[]) =>
        accountCommands('basic')[name]!.run({ positionals, values: {} }, world.app.services)
      const { users } = (await run('users')).json as { users: { hasFactor: boolean }[] }
      expect(users.map(({ hasFactor }) => hasFactor)).to.deep.equal([true])
      expect((await run('remove-factor', ADA.email)).json).to.include({ removed: true })
      expect((await run('remove-factor', ADA.email)).json).to.include({ removed: false })
      expect(world.typesOf().filter((type) => type === 'auth.passkey.removed')).to.have.length(1)
      expect(outcome(await logIn(world.client(), device))).to.deep.equal(INVALID)
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
    }))

  it('has limits: 60 requests for logins a minute from a network, 20 changes of a user in 15 minutes', () =>
    onSqlite({ ...withPasskeys(), limited: true }, async (world) => {
      const { client, device } = await registered(world)
      const response = await assertion(world.client(), device)
      for (let count = 1; count < 60; count++) await world.client().post('/auth/login/passkey/options')
      expect((await world.client().post('/auth/login/passkey', { response })).status).to.equal(429)
      expect(world.typesOf().at(-1)).to.equal('auth.passkey.limited')
      for (let count = 2; count < 20; count++)
        expect((await client.post('/auth/passkeys/options')).status).to.equal(200)
      expect((await client.post('/auth/passkeys/options')).status).to.equal(429)
    }))

  it('has bodies that are checked, and no secret in its responses', () =>
    onSqlite(withPasskeys(), async (world) => {
      const { client, device } = await registered(world)
      const good = await assertion(world.client(), device)
      for (const response of [
        undefined,
        null,
        'x',
        [],
        { ...good, id: 'a b' },
        { ...good, id: 'A'.repeat(1365) },
        { ...good, type: 'password' },
        { ...good, response: undefined },
        { ...good, response: { ...good.response, signature: '' } },
        { ...good, response: { ...good.response, clientDataJSON: 'A'.repeat(4097) } },
        { ...good, response: { ...good.response, userHandle: {} } },
      ])
        expect((await world.client().post('/auth/login/passkey', { response })).status).to.equal(422)
      const made = new SoftAuthenticator().create(await begin(client))
      for (const [response, name] of [
        [{ ...made, response: { ...made.response, publicKey: undefined } }, 'Phone'],
        [{ ...made, response: { ...made.response, publicKeyAlgorithm: '-7' } }, 'Phone'],
        [made, ''],
        [made, 'a\nb'],
        [made, undefined],
      ] as const)
        expect((await client.post('/auth/passkeys', { response, name })).status).to.equal(422)
      const { text } = await client.get('/auth/passkeys')
      const [row] = await world.storage.rows('auth_passkeys')
      for (const hidden of [row.public_key, row.credential_id, row.user_handle])
        expect(text).to.not.include(hidden)
    }))

  it('has in the OpenAPI document the 403 of each endpoint that wants a recent proof', () =>
    onSqlite(
      { ...withPasskeys({}, [totp(), sessions(), account()]), app: { openapi: {} } },
      async (world) => {
        const { body } = await world.client().get('/openapi.json')
        type Responses = Record<number, { description: string }>
        type Operation = { operationId: string; 'x-policies'?: string[]; responses: Responses }
        const all = Object.values<Record<string, Operation>>(body.paths).flatMap((path) =>
          Object.values(path),
        )
        const fresh = all.filter((each) => each['x-policies']?.includes('fresh'))
        expect(fresh.map(({ operationId }) => operationId)).to.include.members([
          'removePasskey',
          'endSession',
        ])
        for (const { operationId, responses } of fresh)
          expect(responses[403]!.description, operationId).to.include('POST /auth/confirm')
      },
    ))

  it('has a domain and origins for which browsers make passkeys, or the start fails', async () => {
    const wrong: readonly [Parameters<typeof passkeys>[0], string, RegExp][] = [
      [{ rpId: 'localhost:3000' }, 'http://localhost:3000', /not a domain/],
      [{ rpId: 'https://example.com' }, 'https://example.com', /not a domain/],
      [{ rpId: 'Example.com' }, 'https://example.com', /not a domain/],
      [{ rpId: '' }, 'https://example.com', /not a domain/],
      [{}, 'http://127.0.0.1:3000', /not a domain/],
      [{}, 'http://[::1]:3000', /not a domain/],
      [{}, 'http://notes.example.com', /neither https nor localhost/],
      [{ origins: ['ws://localhost:3000'] }, 'http://localhost:3000', /neither https nor localhost/],
      [{ origins: ['ftp://localhost'] }, 'http://localhost:3000', /neither https nor localhost/],
      [{ rpId: 'example.org' }, 'https://example.com', /not on the domain/],
      [{ rpId: 'ample.com' }, 'https://example.com', /not on the domain/],
      [{ rpId: 'www.example.com' }, 'https://example.com', /not on the domain/],
      [{ origins: [] }, 'https://example.com', /not a list of origins/],
      [{ origins: ['https://example.com/'] }, 'https://example.com', /not an origin/],
      [{ origins: ['example.com'] }, 'https://example.com', /not an origin/],
      [{ origins: [7 as never] }, 'https://example.com', /not an origin/],
      [
        { origins: ['https://example.com', 'https://evil.example'] },
        'https://example.com',
        /not on the domain/,
      ],
    ]
    for (const [options, appUrl, message] of wrong) {
      const base = withPasskeys(options)
      const error = await failureOf(() =>
        onSqlite({ ...base, auth: { ...base.auth, appUrl } }, async () => undefined),
      )
      expect([error.code, message.test(error.message)], error.message).to.deep.equal([
        'MORTAR_AUTH_OPTION',
        true,
      ])
    }
    for (const [options, appUrl] of [
      [{ rpId: 'example.com' }, 'https://www.example.com'],
      [{ origins: ['https://example.com', 'https://a.b.example.com:8443'] }, 'https://example.com'],
      [{}, 'http://app.localhost:3000'],
    ] as const) {
      const base = withPasskeys(options)
      await onSqlite({ ...base, auth: { ...base.auth, appUrl } }, async () => undefined)
    }
    for (const options of [{ required: 'yes' }, { rpid: 'example.com' }, { origins: 'https://example.com' }])
      expect((await failureOf(() => passkeys(options as never))).message).to.include('passkeys()')
  })
})
