import { expect } from 'chai'
import type { Logger } from 'mortar'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, PASSWORD, signedUp } from './support/world.ts'

const NEXT = 'another horse battery'
const COOKIE = /^mortar_refresh=[\w-]{22}\.[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/

onEachStore('POST /auth/login', (inWorld) => {
  it('answers like signup, with a new session', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const answer = await world
        .client()
        .post('/auth/login', { email: 'Ada@example.com', password: PASSWORD })
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.body).to.have.all.keys('user', 'accessToken', 'expiresIn')
      expect(answer.setCookie).to.match(COOKIE)
      expect(await world.storage.sessions()).to.have.length(2)
      expect(world.typesOf()).to.deep.equal(['auth.signup.succeeded', 'auth.login.succeeded'])
    }))

  it('answers a wrong password and an unknown address with the same bytes', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const ask = (email: string) => world.client().post('/auth/login', { email, password: NEXT })
      const answers = [await ask(ADA.email), await ask('eve@example.com')]
      const headers = answers.map((answer) =>
        Object.entries(answer.headers).filter(([name]) => name !== 'x-request-id' && name !== 'date'),
      )
      for (const answer of answers) expect(answer.status).to.equal(401)
      expect(answers[0]!.text).to.equal(answers[1]!.text)
      expect(answers[0]!.body).to.not.have.property('instance')
      expect(answers[0]!.headers['x-request-id']).to.not.equal(answers[1]!.headers['x-request-id'])
      expect(headers[0]).to.deep.equal(headers[1])
      expect(answers[0]!.headers['www-authenticate']).to.equal('Bearer')
    }))

  it('gives no sign of an account without a password or with a damaged hash', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      for (const hash of [null, 'not a hash', '$argon2id$v=19$m=4194304,t=99,p=1$c2FsdHNhbHQ$aGFzaGhhc2g']) {
        await world.storage.changeUsers({ password_hash: hash })
        const answer = await world.client().post('/auth/login', { email: ADA.email, password: PASSWORD })
        expect(answer.status).to.equal(401)
        expect(answer.body.code).to.equal('invalid_credentials')
      }
    }))

  it('ends the session that the browser had before', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const before = client.copy()
      await client.post('/auth/login', ADA)
      expect((await before.get('/private')).status).to.equal(401)
      expect((await before.post('/auth/refresh')).status).to.equal(401)
      expect((await client.get('/private')).status).to.equal(200)
    }))

  it('signs in although the renewed hash cannot be stored, with a warning', () =>
    inWorld({ file: true }, async (world) => {
      await signedUp(world)
      const warnings: object[] = []
      const logger = { debug() {}, info() {}, error() {}, warn: (line: object) => void warnings.push(line) }
      const later = {
        file: world.file,
        auth: { cost: { memory: 128, passes: 1 } },
        app: { logger: { ...logger, child: () => logger } as unknown as Logger },
      }
      await inWorld(later, async (next) => {
        next.storage.interruptions.meanwhile('update users', () =>
          Promise.reject(new Error('disk I/O error')),
        )
        const { status, body } = await next.client().post('/auth/login', ADA)
        expect(status).to.equal(200)
        expect(warnings.at(-1)).to.include({ userId: body.user.id })
        expect(JSON.stringify(warnings)).to.include('disk I/O error')
      })
    }))

  it('renews a hash of another cost, and the password still holds', () =>
    inWorld({ file: true }, async (world) => {
      await signedUp(world)
      const [{ password_hash: before }] = await world.storage.users()
      await inWorld({ file: world.file, auth: { cost: { memory: 128, passes: 1 } } }, async (later) => {
        expect((await later.client().post('/auth/login', ADA)).status).to.equal(200)
        const [{ password_hash: after }] = await later.storage.users()
        expect(after).to.not.equal(before)
        expect(after).to.match(/m=128,t=1,p=1/)
        expect((await later.client().post('/auth/login', ADA)).status).to.equal(200)
      })
    }))
})
