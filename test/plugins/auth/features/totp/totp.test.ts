import { expect } from 'chai'
import { onEachDatabase } from '../../support/on-each-store.ts'
import {
  challengeFor,
  claimsOf,
  codeOf,
  enrol,
  enrolled,
  logInWith,
  WITH_TOTP,
} from '../../support/second-factor.ts'
import { ADA, PASSWORD, settle, signedUp } from '../../support/world.ts'

const NEXT = 'another horse battery'
const outcome = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]
const WRONG_CODE = [401, 'invalid_code']
const countOf = (answers: readonly { status: number }[], wanted: number) =>
  answers.filter(({ status }) => status === wanted).length
const together = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))

onEachDatabase('totp()', (inWorld) => {
  it('counts once it is confirmed, and then a login needs a code', () =>
    inWorld(WITH_TOTP, async (world) => {
      const client = await signedUp(world)
      const other = world.client()
      await other.post('/auth/login', ADA)
      const { status, body } = await client.post('/auth/totp')
      expect(status).to.equal(200)
      expect(body.secret).to.match(/^[A-Z2-7]{32}$/)
      expect(body.uri).to.equal(
        `otpauth://totp/Paper%20Trail:ada%40example.com?secret=${body.secret}&issuer=Paper%20Trail&algorithm=SHA1&digits=6&period=30`,
      )
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
      expect(outcome(await client.post('/auth/totp/confirm', { code: '000000' }))).to.deep.equal(WRONG_CODE)
      const code = codeOf(world, body.secret)
      const confirmed = await client.post('/auth/totp/confirm', { code })
      expect(confirmed.status, confirmed.text).to.equal(200)
      expect(confirmed.body).to.have.all.keys('accessToken', 'expiresIn', 'recoveryCodes')
      expect((await client.get('/strong')).status).to.equal(200)
      expect((await other.get('/private')).status).to.equal(401)
      expect((await other.post('/auth/refresh')).status).to.equal(401)

      const phone = world.client()
      const first = await phone.post('/auth/login', ADA)
      expect(outcome(first)).to.deep.equal([401, 'second_factor_required'])
      expect(first.body).to.include({ expiresIn: 300 })
      expect(first.body.methods).to.deep.equal(['code', 'recoveryCode'])
      expect(first.headers['set-cookie']).to.equal(undefined)
      expect(first.text).to.not.include('accessToken')
      const { challenge } = first.body
      // The code that confirmed the set-up is used.
      expect(outcome(await phone.post('/auth/login/factor', { challenge, code }))).to.deep.equal(WRONG_CODE)
      world.clock.advance(30)
      const second = await phone.post('/auth/login/factor', { challenge, code: codeOf(world, body.secret) })
      expect(second.status, second.text).to.equal(200)
      expect(second.body).to.have.all.keys('user', 'accessToken', 'expiresIn')
      expect(claimsOf(phone.accessToken)['amr']).to.deep.equal(['pwd', 'otp', 'mfa'])
      await phone.post('/auth/refresh')
      expect(claimsOf(phone.accessToken)['amr']).to.deep.equal(['pwd', 'otp', 'mfa'])
      expect((await phone.get('/strong')).status).to.equal(200)
      expect(world.typesOf().filter((type) => !/signup|token/.test(type))).to.deep.equal([
        'auth.login.succeeded',
        'auth.factor.requested',
        'auth.login.succeeded',
        'auth.factor.failed',
        'auth.factor.added',
        'auth.login.challenged',
        'auth.factor.failed',
        'auth.login.succeeded',
      ])
    }))

  it('lets one of 32 uses of a code win, with as many challenges', () =>
    inWorld(WITH_TOTP, async (world) => {
      const { next } = await enrolled(world)
      const challenges = await together(32, () => challengeFor(world.client()))
      const code = next()
      const answers = await together(32, (index) =>
        world.client().post('/auth/login/factor', { challenge: challenges[index], code }),
      )
      expect([countOf(answers, 200), countOf(answers, 401)]).to.deep.equal([1, 31])
    }))

  it('lets a challenge win once, and have five tries', () =>
    inWorld(WITH_TOTP, async (world) => {
      const { next, recoveryCodes } = await enrolled(world)
      const challenge = await challengeFor(world.client())
      const wins = await together(10, (index) =>
        world.client().post('/auth/login/factor', { challenge, recoveryCode: recoveryCodes[index] }),
      )
      expect(countOf(wins, 200)).to.equal(1)
      const second = await challengeFor(world.client())
      await together(32, () =>
        world.client().post('/auth/login/factor', { challenge: second, code: '000000' }),
      )
      const late = await world.client().post('/auth/login/factor', { challenge: second, code: next() })
      expect(outcome(late)).to.deep.equal([401, 'invalid_challenge'])
      const [{ id }] = await world.storage.users()
      const failures = world.events.filter(({ type }) => type === 'auth.factor.failed')
      const wrong = failures.filter(({ event }) => event['reason'] === 'invalid_code')
      expect(wrong).to.have.length(5)
      for (const { event } of wrong) expect(event['userId']).to.equal(id)
    }))

  it('keeps the codes of one of two renewals that come together', () =>
    inWorld(WITH_TOTP, async (world) => {
      const { client, recoveryCodes } = await enrolled(world)
      await settle(world)
      const renew = (index: number) =>
        client.post('/auth/recovery-codes', { recoveryCode: recoveryCodes[index] })
      const { interruptions } = world.storage
      let seen = 0
      // While the first one stores its codes.
      interruptions.gate = async (statement) => {
        if (statement === undefined && ++seen === 10) expect((await renew(1)).status).to.equal(200)
      }
      expect(outcome(await renew(0))).to.deep.equal([409, 'totp_missing'])
      interruptions.gate = () => undefined
      expect(await world.storage.rows('auth_recovery_codes')).to.have.length(10)
    }))

  it('accepts a recovery code once, in any spelling, and the new ones alone after a renewal', () =>
    inWorld(WITH_TOTP, async (world) => {
      const { client, recoveryCodes, next } = await enrolled(world)
      expect(new Set(recoveryCodes).size).to.equal(10)
      for (const code of recoveryCodes) expect(code).to.match(/^([A-Z2-7]{6}-){3}[A-Z2-7]{6}$/)
      const spelled = recoveryCodes[0]!.toLowerCase().replaceAll('-', ' ')
      const phone = world.client()
      expect((await logInWith(phone, { recoveryCode: spelled })).status).to.equal(200)
      expect(claimsOf(phone.accessToken)['amr']).to.deep.equal(['pwd', 'rcv', 'mfa'])
      expect(outcome(await logInWith(world.client(), { recoveryCode: recoveryCodes[0] }))).to.deep.equal(
        WRONG_CODE,
      )
      const challenges = await together(8, () => challengeFor(world.client()))
      const answers = await together(8, (index) =>
        world
          .client()
          .post('/auth/login/factor', { challenge: challenges[index], recoveryCode: recoveryCodes[1] }),
      )
      expect([countOf(answers, 200), countOf(answers, 401)]).to.deep.equal([1, 7])
      expect(
        world.events.filter(({ type }) => type === 'auth.recovery.used').map(({ event }) => event['left']),
      ).to.deep.equal([9, 8])
      const renewed = await client.post('/auth/recovery-codes', { code: next() })
      expect(renewed.status, renewed.text).to.equal(200)
      expect(outcome(await logInWith(world.client(), { recoveryCode: recoveryCodes[2] }))).to.deep.equal(
        WRONG_CODE,
      )
      expect(
        (await logInWith(world.client(), { recoveryCode: renewed.body.recoveryCodes[2] })).status,
      ).to.equal(200)
      expect(await world.storage.rows('auth_recovery_codes')).to.have.length(9)
    }))

  it('ends with its removal, and the old secret never counts again', () =>
    inWorld(WITH_TOTP, async (world) => {
      const { client, secret, next, recoveryCodes } = await enrolled(world)
      const challenge = await challengeFor(world.client())
      expect(outcome(await client.post('/auth/totp'))).to.deep.equal([409, 'totp_exists'])
      expect(outcome(await client.post('/auth/totp/remove', { code: '000000' }))).to.deep.equal(WRONG_CODE)
      const removed = await client.post('/auth/totp/remove', { code: next() })
      expect(removed.status, removed.text).to.equal(204)
      expect(outcome(await client.post('/auth/totp/remove', { code: next() }))).to.deep.equal([
        409,
        'totp_missing',
      ])
      for (const table of ['auth_totp', 'auth_recovery_codes'])
        expect(await world.storage.rows(table)).to.deep.equal([])
      const late = await world
        .client()
        .post('/auth/login/factor', { challenge, recoveryCode: recoveryCodes[0] })
      expect(outcome(late)).to.deep.equal([401, 'invalid_challenge'])
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
      const again = await enrol(world, client)
      expect(again.secret).to.not.equal(secret)
      world.clock.advance(30)
      expect(outcome(await logInWith(world.client(), { code: codeOf(world, secret) }))).to.deep.equal(
        WRONG_CODE,
      )
      expect(outcome(await logInWith(world.client(), { recoveryCode: recoveryCodes[0] }))).to.deep.equal(
        WRONG_CODE,
      )
      expect((await logInWith(world.client(), { code: codeOf(world, again.secret) })).status).to.equal(200)
    }))

  it('lets the last of several set-ups count, and one of 32 confirmations win', () =>
    inWorld(WITH_TOTP, async (world) => {
      const client = await signedUp(world)
      const copies = Array.from({ length: 32 }, () => client.copy())
      const setUps = await together(8, (index) => copies[index]!.post('/auth/totp'))
      expect(countOf(setUps, 200)).to.equal(8)
      const results: string[] = []
      for (const { body } of setUps) {
        const answer = await client.copy().post('/auth/totp/confirm', { code: codeOf(world, body.secret) })
        results.push(`${answer.status}`)
      }
      expect(results.filter((status) => status === '200')).to.have.length(1)
      expect(await world.storage.rows('auth_recovery_codes')).to.have.length(10)

      const eve = world.client()
      await eve.post('/auth/signup', { ...ADA, email: 'eve@example.com' })
      const code = codeOf(world, (await eve.post('/auth/totp')).body.secret)
      const confirmations = await together(32, () => eve.copy().post('/auth/totp/confirm', { code }))
      expect(countOf(confirmations, 200)).to.equal(1)
      expect(await world.storage.rows('auth_recovery_codes')).to.have.length(20)
    }))

  it('is asked for by a confirmation and by a change of the password', () =>
    inWorld(WITH_TOTP, async (world) => {
      const { client, next, recoveryCodes } = await enrolled(world)
      world.clock.advance(700)
      expect(outcome(await client.get('/recent'))).to.deep.equal([403, 'reauthentication_required'])
      const confirm = (body: object) => client.post('/auth/confirm', { password: PASSWORD, ...body })
      const asked = await confirm({})
      expect(outcome(asked)).to.deep.equal([401, 'second_factor_required'])
      expect(asked.body).to.not.have.property('challenge')
      expect(outcome(await confirm({ code: '000000' }))).to.deep.equal(WRONG_CODE)
      expect((await client.get('/recent')).status).to.equal(403)
      expect((await confirm({ code: next() })).status).to.equal(200)
      expect((await client.get('/recent')).status).to.equal(200)
      expect(claimsOf(client.accessToken)['amr']).to.deep.equal(['pwd', 'otp', 'mfa'])

      const change = (body: object) =>
        client.post('/auth/change-password', { current: PASSWORD, next: NEXT, ...body })
      expect(outcome(await change({}))).to.deep.equal([401, 'second_factor_required'])
      expect(outcome(await change({ code: '000000' }))).to.deep.equal(WRONG_CODE)
      // A weak password is refused first, so the code stays valid.
      expect((await change({ recoveryCode: recoveryCodes[0], next: 'password' })).status).to.equal(422)
      expect((await change({ recoveryCode: recoveryCodes[0] })).status).to.equal(200)
      expect(claimsOf(client.accessToken)['amr']).to.deep.equal(['pwd', 'rcv', 'mfa'])
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      expect((await client.get('/strong')).status).to.equal(200)
      expect(await challengeFor(world.client(), NEXT)).to.be.a('string')
    }))

  it('stays a method of its session for as long as that lives', () =>
    inWorld(WITH_TOTP, async (world) => {
      const { client } = await enrolled(world)
      world.clock.advance(29 * 86_400)
      expect(
        (await world.client().post('/auth/signup', { ...ADA, email: 'bob@example.com' })).status,
      ).to.equal(201)
      await settle(world)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      expect((await client.get('/strong')).status).to.equal(200)
    }))

  it('counts ten wrong codes an hour for a user, wherever they are sent', () =>
    inWorld({ ...WITH_TOTP, limited: true }, async (world) => {
      const { client, next } = await enrolled(world)
      for (let count = 0; count < 10; count++)
        expect(outcome(await logInWith(world.client(), { code: '000000' })), String(count)).to.deep.equal(
          WRONG_CODE,
        )
      expect((await logInWith(world.client(), { code: next() })).status).to.equal(429)
      expect((await client.post('/auth/totp/remove', { code: next() })).status).to.equal(429)
      expect(world.typesOf().at(-1)).to.equal('auth.factor.limited')
      expect((await client.post('/auth/confirm', { password: PASSWORD, code: next() })).status).to.equal(429)
      expect(world.typesOf().at(-1)).to.equal('auth.confirm.limited')
      world.clock.advance(3600)
      expect((await logInWith(world.client(), { code: next() })).status).to.equal(200)
      for (let count = 0; count < 9; count++) await logInWith(world.client(), { code: '000000' })
      expect((await logInWith(world.client(), { code: next() })).status).to.equal(200)
    }))
})
