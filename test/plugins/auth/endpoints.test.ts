import { expect } from 'chai'
import { ADA, eventually, inWorld, PASSWORD, resetTokenFor, signedUp } from './support/world.ts'

const NEXT = 'another horse battery'

const COOKIE = /^mortar_refresh=[\w-]{22}\.[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/
const CLEARED = 'mortar_refresh=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'

describe('POST /auth/signup', () => {
  it('answers with the user, an access token and a refresh cookie', () =>
    inWorld({}, async ({ client, typesOf }) => {
      const answer = await client().post('/auth/signup', ADA)
      expect(answer.status, answer.text).to.equal(201)
      expect(answer.body).to.have.all.keys('user', 'accessToken', 'expiresIn')
      expect(answer.body.user).to.have.all.keys('id', 'name', 'email')
      expect(answer.body.user).to.include({ name: 'Ada', email: 'ada@example.com' })
      expect(answer.body.expiresIn).to.equal(900)
      expect(answer.setCookie).to.match(COOKIE)
      expect(typesOf()).to.deep.equal(['auth.signup.succeeded'])
    }))

  it('refuses an address that is taken, in whatever spelling', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const answer = await world.client().post('/auth/signup', { ...ADA, email: ' ADA@Example.COM ' })
      expect(answer.status).to.equal(409)
      expect(answer.body).to.include({ code: 'email_taken', status: 409 })
      expect(answer.setCookie).to.equal(undefined)
    }))

  it('ignores what nobody may choose for himself', () =>
    inWorld({}, async ({ client, source }) => {
      const extra = {
        id: 'mine',
        role: 'admin',
        email_verified_at: '2020-01-01',
        password_hash: 'x',
        password_version: 9,
      }
      const answer = await client().post('/auth/signup', { ...ADA, ...extra })
      expect(answer.status).to.equal(201)
      const [row] = await source.query('select * from auth_users')
      expect(row.id).to.match(/^[0-9a-f-]{36}$/)
      expect(row).to.include({ email_verified_at: null, password_version: 0 })
      expect(row.password_hash).to.match(/^\$argon2id\$/)
    }))

  const wrong: [string, unknown][] = [
    ['no body', undefined],
    ['a name that is missing', { email: ADA.email, password: PASSWORD }],
    ['a blank name', { ...ADA, name: '   ' }],
    ['a name with a control character', { ...ADA, name: 'A\u0000da' }],
    ['a name of more than 200 characters', { ...ADA, name: 'a'.repeat(201) }],
    ['an address without an @', { ...ADA, email: 'ada' }],
    ['a number as address', { ...ADA, email: 5 }],
    ['a password of seven characters', { ...ADA, password: 'sevench' }],
    ['a password of 257 characters', { ...ADA, password: 'a'.repeat(257) }],
    ['a number as password', { ...ADA, password: 1234567890 }],
    ['a list as password', { ...ADA, password: ['correct horse battery'] }],
  ]
  for (const [what, body] of wrong)
    it(`answers 422 to ${what}`, () =>
      inWorld({}, async ({ client }) => {
        const answer = await client().post('/auth/signup', body)
        expect(answer.status, answer.text).to.equal(422)
        expect(answer.body.errors[0]).to.have.all.keys('location', 'path', 'message')
        expect(answer.headers['cache-control']).to.equal('no-store')
      }))

  it('takes a password of eight code points, and counts them, not units', () =>
    inWorld({}, async ({ client }) => {
      expect((await client().post('/auth/signup', { ...ADA, password: '🔑🔑🔑🔑🔑🔑🔑' })).status).to.equal(
        422,
      )
      expect((await client().post('/auth/signup', { ...ADA, password: '🔑🔑🔑🔑🔑🔑🔑🔑' })).status).to.equal(
        201,
      )
    }))
})

describe('bodies of the auth endpoints', () => {
  for (const path of ['signup', 'login', 'forgot-password', 'reset-password'])
    it(`are JSON only: ${path} answers 415 to a form and to plain text`, () =>
      inWorld({}, async ({ client }) => {
        for (const type of [
          'application/x-www-form-urlencoded',
          'text/plain',
          'multipart/form-data; boundary=x',
        ]) {
          const answer = await client().post(`/auth/${path}`, JSON.stringify(ADA), { 'content-type': type })
          expect(answer.status, type).to.equal(415)
          expect(answer.headers['cache-control']).to.equal('no-store')
        }
      }))

  it('are at most 16 KB long', () =>
    inWorld({}, async ({ client }) => {
      const answer = await client().post('/auth/login', { ...ADA, padding: 'x'.repeat(17_000) })
      expect(answer.status).to.equal(413)
    }))

  it('are 400 when they are not JSON', () =>
    inWorld({}, async ({ client }) => {
      expect((await client().post('/auth/login', '{"email":')).status).to.equal(400)
    }))
})

describe('POST /auth/login', () => {
  it('answers like signup, with a new session', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const answer = await world
        .client()
        .post('/auth/login', { email: 'Ada@example.com', password: PASSWORD })
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.body).to.have.all.keys('user', 'accessToken', 'expiresIn')
      expect(answer.setCookie).to.match(COOKIE)
      expect(await world.source.query('select id from auth_refresh_tokens')).to.have.length(2)
      expect(world.typesOf()).to.deep.equal(['auth.signup.succeeded', 'auth.login.succeeded'])
    }))

  it('answers a wrong password and an unknown address with the same bytes', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const answers = [
        await world
          .client()
          .post('/auth/login', { email: ADA.email, password: NEXT }, { 'x-request-id': 'same' }),
        await world
          .client()
          .post('/auth/login', { email: 'eve@example.com', password: NEXT }, { 'x-request-id': 'same' }),
      ]
      for (const answer of answers) expect(answer.status).to.equal(401)
      expect(answers[0]!.text).to.equal(answers[1]!.text)
      expect(Object.entries(answers[0]!.headers)).to.deep.equal(Object.entries(answers[1]!.headers))
      expect(answers[0]!.headers['www-authenticate']).to.equal('Bearer')
    }))

  it('gives no sign of an account without a password or with a damaged hash', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      for (const hash of [null, 'not a hash', '$argon2id$v=19$m=4194304,t=99,p=1$c2FsdHNhbHQ$aGFzaGhhc2g']) {
        await world.source.query('update auth_users set password_hash = ?', [hash])
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

  it('renews a hash of another cost, and the password still holds', () =>
    inWorld({ file: true }, async (world) => {
      await signedUp(world)
      const [{ password_hash: before }] = await world.source.query('select password_hash from auth_users')
      await inWorld({ file: world.file, auth: { cost: { memory: 128, passes: 1 } } }, async (later) => {
        expect((await later.client().post('/auth/login', ADA)).status).to.equal(200)
        const [{ password_hash: after }] = await later.source.query('select password_hash from auth_users')
        expect(after).to.not.equal(before)
        expect(after).to.match(/m=128,t=1,p=1/)
        expect((await later.client().post('/auth/login', ADA)).status).to.equal(200)
      })
    }))
})

describe('GET /auth/me', () => {
  it('answers with the user, whose raw record has no hash', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const answer = await client.get('/auth/me')
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.body).to.have.all.keys('id', 'name', 'email', 'raw')
      expect(answer.body.raw).to.have.all.keys(
        'id',
        'name',
        'email',
        'email_verified_at',
        'created_at',
        'updated_at',
      )
      expect(answer.body.raw.created_at).to.equal('2030-01-01T12:00:00.000Z')
      expect(answer.text).to.not.match(/hash|argon|version/)
      expect(answer.headers['cache-control']).to.equal('no-store')
    }))

  it('is 401 without a token, with a wrong one and with one that expired', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const without = await world.client().get('/auth/me')
      expect(without.status).to.equal(401)
      expect(without.headers['www-authenticate']).to.equal('Bearer')
      expect(without.headers['cache-control']).to.equal('no-store')
      const wrong = await world.client().get('/auth/me', { authorization: 'Bearer x.y.z' })
      expect(wrong.headers['www-authenticate']).to.equal('Bearer error="invalid_token"')
      world.clock.advance(899)
      expect((await client.get('/auth/me')).status).to.equal(200)
      world.clock.advance(1)
      expect((await client.get('/auth/me')).status).to.equal(401)
    }))

  it('takes no refresh token for an access token', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      expect(
        (await client.get('/auth/me', { authorization: `Bearer ${client.refreshToken}` })).status,
      ).to.equal(401)
    }))
})

describe('POST /auth/logout', () => {
  it('deletes the session, clears the cookie and stops the access token at once', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const stolen = client.copy()
      const answer = await client.post('/auth/logout')
      expect(answer.status, answer.text).to.equal(204)
      expect(answer.text).to.equal('')
      expect(answer.setCookie).to.equal(CLEARED)
      expect(await world.source.query('select id from auth_refresh_tokens')).to.deep.equal([])
      expect((await stolen.get('/private')).status).to.equal(401)
      expect((await stolen.post('/auth/refresh')).status).to.equal(401)
    }))

  it('answers the same without a cookie, with a foreign one and a second time', () =>
    inWorld({}, async ({ client }) => {
      for (const cookie of [
        undefined,
        'mortar_refresh=x',
        `mortar_refresh=${'a'.repeat(22)}.${'A'.repeat(43)}`,
      ]) {
        const answer = await client().post('/auth/logout', undefined, cookie ? { cookie } : {})
        expect([answer.status, answer.setCookie]).to.deep.equal([204, CLEARED])
      }
    }))

  it('ends the session of an access token that comes without a cookie', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      client.cookies.clear()
      expect((await client.post('/auth/logout')).status).to.equal(204)
      expect((await client.get('/private')).status).to.equal(401)
      expect(await world.source.query('select id from auth_refresh_tokens')).to.deep.equal([])
    }))

  it('leaves other sessions alone', () =>
    inWorld({}, async (world) => {
      const first = await signedUp(world)
      const second = world.client()
      await second.post('/auth/login', ADA)
      await second.post('/auth/logout')
      expect((await first.get('/private')).status).to.equal(200)
      expect((await first.post('/auth/refresh')).status).to.equal(200)
    }))
})

describe('POST /auth/change-password', () => {
  const change = { current: PASSWORD, next: NEXT }

  it('ends every other session, and keeps and rotates this one', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const other = world.client()
      await other.post('/auth/login', ADA)
      const before = client.refreshToken
      const answer = await client.post('/auth/change-password', change)
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.body).to.have.all.keys('message')
      expect(answer.setCookie).to.match(COOKIE)
      expect(client.refreshToken).to.not.equal(before)
      expect((await other.get('/private')).status).to.equal(401)
      expect((await other.post('/auth/refresh')).status).to.equal(401)
      expect((await client.get('/private')).status).to.equal(200)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(401)
      expect((await world.client().post('/auth/login', { ...ADA, password: NEXT })).status).to.equal(200)
    }))

  it('keeps a session without a cookie, and sets none', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const withCookie = client.copy()
      client.cookies.clear()
      const answer = await client.post('/auth/change-password', change)
      expect([answer.status, answer.setCookie]).to.deep.equal([200, undefined])
      expect((await withCookie.post('/auth/refresh')).status).to.equal(200)
    }))

  it('makes reset tokens that are still out worthless', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const token = await resetTokenFor(world)
      await client.post('/auth/change-password', change)
      expect(
        (await world.client().post('/auth/reset-password', { token, password: PASSWORD })).status,
      ).to.equal(401)
    }))

  it('is 401 for a wrong current password, and changes nothing', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const answer = await client.post('/auth/change-password', { current: 'wrong horse', next: NEXT })
      expect(answer.status).to.equal(401)
      expect(answer.body.code).to.equal('invalid_credentials')
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
    }))

  it('is 401 without a token before the body is looked at, and 422 for a weak password', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      expect((await world.client().post('/auth/change-password', {})).status).to.equal(401)
      const answer = await client.post('/auth/change-password', { current: PASSWORD, next: 'short' })
      expect(answer.status).to.equal(422)
      expect(answer.body.errors[0]).to.include({ location: 'body', path: 'next' })
    }))
})

describe('POST /auth/forgot-password', () => {
  it('answers the same for every address, and mails only a known one', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const ask = (email: string) =>
        world.client().post('/auth/forgot-password', { email }, { 'x-request-id': 'same' })
      const [known, unknown] = [await ask('ADA@example.com'), await ask('eve@example.com')]
      expect(known.status).to.equal(200)
      expect(known.text).to.equal(unknown.text)
      expect(Object.entries(known.headers)).to.deep.equal(Object.entries(unknown.headers))
      await eventually(() => world.mails.length === 1)
      expect(world.mails[0]!.to).to.equal('ada@example.com')
    }))

  it('does not wait for the mail, and does not show that it failed', () =>
    inWorld(
      { auth: { sendResetEmail: () => new Promise(() => {}) }, app: { shutdownTimeout: '10ms' } },
      async (world) => {
        await signedUp(world)
        expect((await world.client().post('/auth/forgot-password', { email: ADA.email })).status).to.equal(
          200,
        )
      },
    ))

  it('reports a mail that failed without the token in it', () => {
    let token = ''
    const sendResetEmail = (_to: string, given: string) => {
      token = given
      throw new Error(`no route for ${given}`)
    }
    return inWorld({ auth: { sendResetEmail } }, async (world) => {
      await signedUp(world)
      expect((await world.client().post('/auth/forgot-password', { email: ADA.email })).status).to.equal(200)
      await eventually(() => world.typesOf().includes('auth.password.reset.mail.failed'))
      expect(token).to.have.length(43)
      expect(JSON.stringify(world.events)).to.not.include(token)
      expect(JSON.stringify(world.events)).to.include('no route for [token]')
    })
  })

  it('keeps at most three tokens valid', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const tokens: string[] = []
      for (let count = 0; count < 5; count++) {
        world.clock.advance(1)
        tokens.push(await resetTokenFor(world))
      }
      expect(await world.source.query('select user_id from auth_reset_tokens')).to.have.length(3)
      const redeem = (token: string) => world.client().post('/auth/reset-password', { token, password: NEXT })
      expect((await redeem(tokens[1]!)).status).to.equal(401)
      expect((await redeem(tokens[2]!)).status).to.equal(200)
    }))

  it('answers 422 to what is no address', () =>
    inWorld({}, async ({ client }) => {
      expect((await client().post('/auth/forgot-password', { email: 'x' })).status).to.equal(422)
    }))
})

describe('POST /auth/reset-password', () => {
  it('sets the password, ends every session and signs nobody in', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const answer = await world
        .client()
        .post('/auth/reset-password', { token: await resetTokenFor(world), password: NEXT })
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.body).to.have.all.keys('message')
      expect(answer.setCookie).to.equal(undefined)
      expect((await client.get('/private')).status).to.equal(401)
      expect((await client.post('/auth/refresh')).status).to.equal(401)
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(401)
      expect((await world.client().post('/auth/login', { ...ADA, password: NEXT })).status).to.equal(200)
    }))

  it('takes a token once, and makes the others of the user worthless', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const [first, second] = [await resetTokenFor(world), await resetTokenFor(world)]
      const redeem = (token: string) => world.client().post('/auth/reset-password', { token, password: NEXT })
      expect((await redeem(first)).status).to.equal(200)
      const again = await redeem(first)
      expect([again.status, again.body.code]).to.deep.equal([401, 'invalid_reset_token'])
      expect((await redeem(second)).status).to.equal(401)
    }))

  it('takes a token for half an hour', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const [early, late] = [await resetTokenFor(world), await resetTokenFor(world)]
      const redeem = (token: string) => world.client().post('/auth/reset-password', { token, password: NEXT })
      world.clock.advance(1800)
      expect((await redeem(early)).status).to.equal(401)
      world.clock.advance(-1)
      expect((await redeem(late)).status).to.equal(200)
    }))

  it('answers 422 to a weak password and does not use the token up', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const token = await resetTokenFor(world)
      expect(
        (await world.client().post('/auth/reset-password', { token, password: 'short' })).status,
      ).to.equal(422)
      expect((await world.client().post('/auth/reset-password', { token, password: NEXT })).status).to.equal(
        200,
      )
    }))

  it('answers 401 to any other text, and to tokens of other kinds', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      for (const token of [
        'x',
        '%00',
        'A'.repeat(43),
        client.refreshToken,
        client.accessToken?.slice(0, 256),
      ])
        expect(
          (await world.client().post('/auth/reset-password', { token, password: NEXT })).status,
        ).to.equal(401)
    }))

  it('stores no token in the clear', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const token = await resetTokenFor(world)
      const rows = JSON.stringify([
        await world.source.query('select * from auth_reset_tokens'),
        await world.source.query('select * from auth_refresh_tokens'),
      ])
      expect(rows).to.not.include(token)
      for (const part of client.refreshToken!.split('.')) expect(rows).to.not.include(part)
    }))
})
