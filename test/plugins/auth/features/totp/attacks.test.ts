import { expect } from 'chai'
import { emailVerification } from '@mortar/auth/email-verification'
import { notices } from '@mortar/auth/notices'
import { passkeys } from '@mortar/auth/passkeys'
import { sessions } from '@mortar/auth/sessions'
import { totp } from '@mortar/auth/totp'
import type { Logger } from 'mortar'
import { failureOf } from '../../support/failure-of.ts'
import { onEachStore } from '../../support/on-each-store.ts'
import {
  enrol,
  challengeFor,
  codeOf,
  disabledLikeWrongPassword,
  enrolled,
  logInWith,
  started,
  WITH_TOTP,
} from '../../support/second-factor.ts'
import {
  ADA,
  inWorld as onSqlite,
  PASSWORD,
  resetTokenFor,
  settle,
  signedUp,
  type World,
  type WorldOptions,
} from '../../support/world.ts'

const NEXT = 'another horse battery'
const MANAGED = ['/auth/totp', '/auth/totp/confirm', '/auth/totp/remove', '/auth/recovery-codes']
const EVERYTHING: WorldOptions = {
  ...WITH_TOTP,
  auth: { features: [...WITH_TOTP.auth!.features!, sessions(), notices()], sendMail: () => undefined },
}
const outcome = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]

/** A body of somebody who has password and mailbox of Ada, and not her authenticator. */
async function known(world: World): Promise<object> {
  return {
    ...ADA,
    current: PASSWORD,
    next: NEXT,
    token: await resetTokenFor(world),
    challenge: await challengeFor(world.client()),
    code: '000000',
    recoveryCode: 'AAAAAA-AAAAAA-AAAAAA-AAAAAA',
  }
}

onEachStore('A second factor', (inWorld) => {
  it('is skipped by no way in', () => {
    const auth = {
      ...EVERYTHING.auth,
      features: [...EVERYTHING.auth!.features!, emailVerification(), passkeys()],
    }
    return inWorld({ ...EVERYTHING, auth }, async (world) => {
      const client = await signedUp(world)
      await world.storage.changeUsers({ email_verified_at: new Date(world.clock.now()) })
      await client.post('/auth/refresh')
      await enrol(world, client)
      await client.post('/auth/logout')
      const body = await known(world)
      const paths = world.app.routes.filter(({ path }) => path.startsWith('/auth/'))
      expect(paths.map(({ path }) => path)).to.include.members([
        '/auth/login',
        '/auth/reset-password',
        ...MANAGED,
      ])
      // The reset is last, because it makes the password of the others wrong.
      const inOrder = paths.toSorted(
        (a, b) => Number(a.path.includes('reset')) - Number(b.path.includes('reset')),
      )
      for (const { method, path } of inOrder) {
        const intruder = world.client()
        const answer = await (method === 'POST'
          ? intruder.post(path, body)
          : method === 'DELETE'
            ? intruder.delete(path)
            : intruder.get(path))
        expect(answer.body.accessToken, path).to.equal(undefined)
        expect([...intruder.cookies.keys()], path).to.deep.equal([])
      }
      expect(await world.storage.sessions()).to.deep.equal([])
      await settle(world)
      await challengeFor(world.client(), PASSWORD)
    })
  })

  it('stays after a reset of the password, which ends the challenges before it', () =>
    inWorld(WITH_TOTP, async (world) => {
      const { next } = await enrolled(world)
      const challenge = await challengeFor(world.client())
      const reset = { token: await resetTokenFor(world), password: NEXT }
      expect((await world.client().post('/auth/reset-password', reset)).status).to.equal(200)
      const late = await world.client().post('/auth/login/factor', { challenge, code: next() })
      expect(outcome(late)).to.deep.equal([401, 'invalid_challenge'])
      expect(await challengeFor(world.client(), NEXT)).to.be.a('string')
    }))

  it('goes with a reset that proves an address for the first time, where users prove addresses', () => {
    const { features = [], ...auth } = WITH_TOTP.auth!
    const both = {
      ...WITH_TOTP,
      auth: { ...auth, features: [...features, emailVerification()], sendMail: () => {} },
    }
    return inWorld(both, async (world) => {
      const client = await signedUp(world)
      await world.storage.changeUsers({ email_verified_at: new Date(world.clock.now()) })
      await client.post('/auth/refresh')
      await enrol(world, client)
      await world.storage.changeUsers({ email_verified_at: null })
      expect(await challengeFor(world.client())).to.be.a('string')
      const reset = async (password: string) => {
        const token = await resetTokenFor(world)
        expect((await world.client().post('/auth/reset-password', { token, password })).status).to.equal(200)
      }
      await reset(NEXT)
      expect((await client.post('/auth/refresh')).status).to.equal(401)
      const owner = world.client()
      expect((await owner.post('/auth/login', { ...ADA, password: NEXT })).status).to.equal(200)
      for (const table of ['auth_totp', 'auth_recovery_codes'])
        expect(await world.storage.rows(table), table).to.deep.equal([])
      expect(world.typesOf()).to.include('auth.factor.removed')
      await enrol(world, owner)
      await reset(PASSWORD)
      expect(await world.storage.rows('auth_totp')).to.have.length(1)
    })
  })

  it('has a challenge for five minutes, and for the sessions of one sign-out', () =>
    inWorld(WITH_TOTP, async (world) => {
      const { next } = await enrolled(world)
      const send = (challenge: string) =>
        world.client().post('/auth/login/factor', { challenge, code: next() })
      const early = await challengeFor(world.client())
      world.clock.advance(300)
      expect(outcome(await send(early))).to.deep.equal([401, 'invalid_challenge'])
      const challenge = await challengeFor(world.client())
      const [{ id }] = await world.storage.users()
      const { authProvider } = world.app.services as unknown as {
        authProvider: { signOut(id: string): Promise<void> }
      }
      await authProvider.signOut(id)
      expect(outcome(await send(challenge))).to.deep.equal([401, 'invalid_challenge'])
      for (const forged of ['', 'x', 'A'.repeat(43)])
        expect((await send(forged)).status).to.be.oneOf([401, 422])
      const late = await challengeFor(world.client())
      world.clock.advance(260)
      expect((await send(late)).status).to.equal(200)
    }))

  it('is not asked for by a disabled account, which is refused like a wrong password', () =>
    inWorld(WITH_TOTP, async (world) => {
      const { next } = await enrolled(world)
      const challenge = await challengeFor(world.client())
      await disabledLikeWrongPassword(world)
      expect((await world.client().post('/auth/login/factor', { challenge, code: next() })).status).to.equal(
        401,
      )
    }))

  it('refuses used codes after the clock was set back', () =>
    inWorld(WITH_TOTP, async (world) => {
      const { secret, next } = await enrolled(world)
      const code = next()
      expect((await logInWith(world.client(), { code })).status).to.equal(200)
      world.clock.advance(-60)
      expect((await logInWith(world.client(), { code })).status).to.equal(401)
      expect((await logInWith(world.client(), { code: codeOf(world, secret) })).status).to.equal(401)
      world.clock.advance(120)
      expect((await logInWith(world.client(), { code: codeOf(world, secret) })).status).to.equal(200)
    }))
})

describe('A second factor', () => {
  it('is managed with a recent proof alone, and by its user', () =>
    onSqlite(WITH_TOTP, async (world) => {
      const { client, next } = await enrolled(world)
      world.clock.advance(601)
      await client.post('/auth/refresh')
      for (const path of MANAGED) {
        const stolen = client.copy()
        stolen.cookies.clear()
        const answer = await stolen.post(path, { code: next() })
        expect(outcome(answer), path).to.deep.equal([403, 'reauthentication_required'])
        expect((await world.client().post(path, { code: next() })).status, path).to.equal(401)
      }
      await client.post('/auth/confirm', { password: PASSWORD, code: next() })
      const foreign = { 'sec-fetch-site': 'cross-site' }
      const answer = await client.post('/auth/totp/confirm', { code: next() }, foreign)
      expect(outcome(answer)).to.deep.equal([403, 'cross_site_request'])
    }))

  it('is not confirmed by the code of a set-up that another request replaces meanwhile', () =>
    onSqlite(WITH_TOTP, async (world) => {
      const { client, next } = await started(world)
      const code = next()
      await settle(world)
      let statements = 0
      // Between the look-up of the secret and the statement that makes it active. Statements of features have no name.
      world.storage.interruptions.gate = async (statement) => {
        if (statement !== undefined || ++statements !== 3) return
        await client.copy().post('/auth/totp')
      }
      expect(outcome(await client.post('/auth/totp/confirm', { code }))).to.deep.equal([401, 'invalid_code'])
      expect(statements).to.be.above(3)
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
      expect(await world.storage.rows('auth_recovery_codes')).to.deep.equal([])
    }))

  it('is confirmed within ten minutes', () =>
    onSqlite(WITH_TOTP, async (world) => {
      const { client, next } = await started(world)
      world.clock.advance(540)
      await client.post('/auth/confirm', { password: PASSWORD })
      world.clock.advance(30)
      const late = await client.post('/auth/totp/confirm', { code: next() })
      expect(outcome(late)).to.deep.equal([409, 'totp_missing'])
      expect((await client.post('/auth/totp')).status).to.equal(200)
    }))

  it('is set up for a proven address alone, beside emailVerification()', () => {
    const auth = { ...EVERYTHING.auth, features: [...EVERYTHING.auth!.features!, emailVerification()] }
    return onSqlite({ ...EVERYTHING, auth }, async (world) => {
      const client = await signedUp(world)
      expect(outcome(await client.post('/auth/totp'))).to.deep.equal([403, 'email_unverified'])
      await world.storage.changeUsers({ email_verified_at: new Date(world.clock.now()) })
      await client.post('/auth/refresh')
      expect((await client.post('/auth/totp')).status).to.equal(200)
    })
  })

  it('needs one code in a body, in its form', () =>
    onSqlite(WITH_TOTP, async (world) => {
      const { client } = await enrolled(world)
      const challenge = await challengeFor(world.client())
      for (const path of ['/auth/totp/remove', '/auth/recovery-codes', '/auth/login/factor'])
        for (const codes of [
          {},
          { code: '12345' },
          { code: 123_456 },
          { code: null },
          { recoveryCode: 'x'.repeat(65) },
        ])
          expect((await client.post(path, { challenge, ...codes })).status, path).to.equal(422)
      for (const code of ['1234567', '12345x', ' 12345', undefined])
        expect((await client.post('/auth/totp/confirm', { code })).status).to.equal(422)
    }))

  it('is in no event, log line or problem', async () => {
    const lines: string[] = []
    const write = (first: unknown, second?: unknown) => void lines.push(JSON.stringify([first, second]))
    const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger }
    await onSqlite({ ...EVERYTHING, app: { logger } }, async (world) => {
      const { client, secret, recoveryCodes, next } = await enrolled(world)
      const challenge = await challengeFor(world.client())
      const codes = [next(), next(), next()]
      const [first, second, third] = codes
      const spent = recoveryCodes[0]!
      const bodies = [
        await world.client().post('/auth/login/factor', { challenge, code: first }),
        await world.client().post('/auth/login/factor', { challenge, code: first }),
        await logInWith(world.client(), { code: second }),
        await logInWith(world.client(), { recoveryCode: spent }),
        await logInWith(world.client(), { recoveryCode: spent }),
        await client.post('/auth/confirm', { password: PASSWORD, code: second }),
        await client.post('/auth/totp/remove', { code: third }),
        await world.client().post('/auth/login', ADA),
      ]
      expect(bodies.map(({ status }) => status)).to.include.members([200, 204, 401])
      await settle(world)
      const seen = [...lines, ...bodies.map(({ text }) => text), JSON.stringify(world.events)].join('\n')
      const stored = JSON.stringify(await world.storage.rows('auth_session_methods'))
      for (const each of [
        secret,
        challenge,
        ...codes,
        ...recoveryCodes,
        ...recoveryCodes.map((code) => code.replaceAll('-', '')),
      ])
        expect(seen + stored).to.not.include(each)
    })
  })

  it('is stored sealed, and its recovery codes as hashes', () =>
    onSqlite(WITH_TOTP, async (world) => {
      const { secret, recoveryCodes } = await enrolled(world)
      const challenge = await challengeFor(world.client())
      const tables = ['auth_totp', 'auth_recovery_codes', 'auth_session_methods', 'auth_challenges']
      const rows = JSON.stringify(await Promise.all(tables.map((table) => world.storage.rows(table))))
      for (const each of [secret, challenge, ...recoveryCodes]) expect(rows).to.not.include(each)
    }))

  it('is in mails to its owner, and so is a login from a new browser, after its second step', async () => {
    const kinds: string[] = []
    const auth = { ...EVERYTHING.auth, sendMail: ({ kind }: { kind: string }) => kinds.push(kind) }
    await onSqlite({ ...EVERYTHING, auth }, async (world) => {
      const { client, next, recoveryCodes } = await enrolled(world)
      const told = async () => {
        await settle(world)
        return kinds.splice(0)
      }
      expect(await told()).to.deep.equal(['factor-added'])
      const agent = { 'user-agent': 'Firefox/1 Linux' }
      const phone = world.client()
      const { challenge } = (await phone.post('/auth/login', ADA, agent)).body
      expect(await told()).to.deep.equal([])
      await phone.post('/auth/login/factor', { challenge, recoveryCode: recoveryCodes[0] }, agent)
      expect(await told()).to.deep.equal(['recovery-code-used', 'new-browser'])
      // A browser with a device cookie is known, whatever its name.
      const other = { 'user-agent': 'Chrome/1 Windows' }
      const again = await challengeFor(phone)
      const second = await phone.post('/auth/login/factor', { challenge: again, code: next() }, other)
      expect(second.status).to.equal(200)
      expect(await told()).to.deep.equal([])
      await client.post('/auth/recovery-codes', { recoveryCode: recoveryCodes[1] })
      expect(await told()).to.deep.equal(['recovery-code-used', 'recovery-codes-renewed'])
      await client.post('/auth/totp/remove', { code: next() })
      expect(await told()).to.deep.equal(['factor-removed'])
    })
  })

  it('clears the failures of a login whose password was right', () =>
    onSqlite({ ...WITH_TOTP, limited: true }, async (world) => {
      await enrolled(world)
      for (let round = 0; round < 3; round++) {
        for (let count = 0; count < 9; count++)
          await world.client().post('/auth/login', { ...ADA, password: 'wrong horse' })
        world.clock.advance(60)
        await challengeFor(world.client())
      }
    }))

  it('renews the hash of a password whose cost has risen, without a session', () =>
    onSqlite({ ...WITH_TOTP, file: true }, async (world) => {
      await enrolled(world)
      const [{ password_hash: before }] = await world.storage.users()
      const auth = { ...WITH_TOTP.auth, cost: { memory: 128, passes: 1 } }
      await onSqlite({ ...WITH_TOTP, auth, file: world.file }, async (other) => {
        await challengeFor(other.client())
        const [{ password_hash: after }] = await other.storage.users()
        expect(after).to.include('m=128').and.not.equal(before)
      })
    }))

  it('has no session of a user without one on a route with mfa, and names the remedy', () =>
    onSqlite(WITH_TOTP, async (world) => {
      const client = await signedUp(world)
      expect(outcome(await client.get('/strong'))).to.deep.equal([403, 'factor_required'])
      expect((await world.client().get('/strong')).status).to.equal(401)
    }))

  it('is forgotten with its user, and its rows are deleted when they are over', () =>
    onSqlite(WITH_TOTP, async (world) => {
      await enrolled(world)
      await challengeFor(world.client())
      const eve = world.client()
      await eve.post('/auth/signup', { ...ADA, email: 'eve@example.com' })
      await eve.post('/auth/totp')
      world.clock.advance(31 * 86_400)
      await world.client().post('/auth/signup', { ...ADA, email: 'bob@example.com' })
      await settle(world)
      const counts = async () =>
        Promise.all(
          ['auth_totp', 'auth_recovery_codes', 'auth_session_methods', 'auth_challenges'].map(
            async (table) => (await world.storage.rows(table)).length,
          ),
        )
      expect(await counts()).to.deep.equal([1, 10, 0, 0])
      await world.storage.deleteUsers()
      expect(await counts()).to.deep.equal([0, 0, 0, 0])
    }))

  it('has an issuer without a colon, and needs recent()', async () => {
    for (const make of [
      () => totp({ issuer: '' }),
      () => totp({ issuer: 'a:b' }),
      () => onSqlite({ auth: { features: [totp()] } }, async () => {}),
    ])
      expect((await failureOf(make)).code).to.equal('MORTAR_AUTH_OPTION')
  })
})
