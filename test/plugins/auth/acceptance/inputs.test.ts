import { expect } from 'chai'
import type { Issue } from 'mortar'
import { throughBothAdapters } from '../../../support/adapters.ts'
import { newcomer, openService, PASSWORD, type Service } from './service.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', password: PASSWORD }
const VARIED = Array.from({ length: 64 }, (_, n) => `${n} x `)
  .join('')
  .slice(0, 256)
const COMPOSED = 'é'.normalize('NFC')
const DECOMPOSED = 'é'.normalize('NFD')

/** Bodies of signup and the status that each deserves. */
const SIGNUPS: readonly [string, unknown, number][] = [
  ['nothing at all', {}, 422],
  ['no name', { ...ADA, name: undefined }, 422],
  ['no email', { ...ADA, email: undefined }, 422],
  ['no password', { ...ADA, password: undefined }, 422],
  ['nulls', { name: null, email: null, password: null }, 422],
  ['a number for a name', { ...ADA, name: 1 }, 422],
  ['a number for a password', { ...ADA, password: 12345678 }, 422],
  ['a list for an address', { ...ADA, email: ['ada@example.com'] }, 422],
  ['an operator for an address', { ...ADA, email: { $ne: null } }, 422],
  ['a blank name', { ...ADA, name: ' \t' }, 422],
  ['a name of invisible characters', { ...ADA, name: '\u200b\u2060' }, 422],
  ['a name of Hangul fillers', { ...ADA, name: '\u3164\u115f\u034f\ufe0f' }, 422],
  ['a name that turns the text after it', { ...ADA, name: 'Ada \u202exe.niam' }, 422],
  ['a name in an isolate', { ...ADA, name: '\u2067Ada\u2069' }, 422],
  ['a name of 200 emoji', { ...ADA, name: '🔑'.repeat(200) }, 201],
  ['a name of 201 emoji', { ...ADA, name: '🔑'.repeat(201) }, 422],
  ['a name with an emoji of several code points', { ...ADA, name: 'Ada ❤️ 👩‍💻' }, 201],
  ['a name with a line break', { ...ADA, name: 'Ada\r\nBcc: eve@example.com' }, 422],
  ['a name with a line separator', { ...ADA, name: 'Ada\u2028Eve' }, 422],
  ['a name with a NUL', { ...ADA, name: 'Ada\0' }, 422],
  ['a name of a lone surrogate', { ...ADA, name: 'Ada\ud800' }, 422],
  ['a name of 201 characters', { ...ADA, name: 'a'.repeat(201) }, 422],
  ['a name that grows under NFC', { ...ADA, name: '\ufb2c'.repeat(200) }, 422],
  ['a name of 200 characters', { ...ADA, name: 'a'.repeat(200) }, 201],
  ['an address without @', { ...ADA, email: 'ada' }, 422],
  ['an address with two @', { ...ADA, email: 'ada@eve@example.com' }, 422],
  ['an address without a dot', { ...ADA, email: 'ada@localhost' }, 422],
  ['an address with a line break', { ...ADA, email: 'ada@example.com\nbcc:eve@example.com' }, 422],
  ['an address with a comma', { ...ADA, email: 'ada@example.com,eve@example.com' }, 422],
  ['an address with a name', { ...ADA, email: 'Ada <ada@example.com>' }, 422],
  ['an address with a NUL', { ...ADA, email: 'ada\0@example.com' }, 422],
  [
    'an address of 255 bytes',
    { ...ADA, email: `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(58)}.com` },
    422,
  ],
  [
    'an address of 254 bytes',
    { ...ADA, email: `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.com` },
    201,
  ],
  ['a password of 7', { ...ADA, password: 'a'.repeat(7) }, 422],
  ['a password of 8', { ...ADA, password: 'a password'.slice(0, 8) }, 201],
  ['a password of 256', { ...ADA, password: VARIED }, 201],
  ['a password of 257', { ...ADA, password: 'a'.repeat(257) }, 422],
  ['a password of 8 emoji', { ...ADA, password: '🔑🐎🔋📎🌊🎲🧵🪐' }, 201],
  ['a password of 4 emoji', { ...ADA, password: '🔑'.repeat(4) }, 422],
  ['a password of 256 emoji (1,024 bytes)', { ...ADA, password: '🔑🐎🔋📎🌊🎲🧵🪐'.repeat(32) }, 201],
  ['a password of 8 only before NFC', { ...ADA, password: DECOMPOSED.repeat(4) }, 422],
  ['a password of 8 blanks', { ...ADA, password: ' '.repeat(8) }, 422],
  ['a password of a lone surrogate', { ...ADA, password: 'abcdefgh\udc00' }, 422],
  ['a password with a NUL', { ...ADA, password: 'abcdefgh\0' }, 422],
  ['a list', [], 422],
  ['null', 'null', 422],
  ['a string', '"x"', 422],
  ['a number', '1', 422],
  ['broken JSON', '{"name":', 400],
  ['no body', '', 422],
  [
    'prototype keys',
    '{"__proto__":{"x":1},"constructor":{"prototype":{}},"name":"A","email":"p@example.com","password":"a long password"}',
    201,
  ],
  ['prototype keys alone', '{"__proto__":{"name":"A","email":"p@example.com","password":"12345678"}}', 422],
]

describe('auth inputs, as the contract has them', () => {
  throughBothAdapters((open) => {
    let service: Service
    beforeEach(async () => {
      service = await openService(open)
    })
    afterEach(() => service.leave())

    it('answers each body of signup with the status that it deserves', async () => {
      const wrong: string[] = []
      for (const [what, body, status] of SIGNUPS) {
        const reply = await service.post('/auth/signup', body)
        if (reply.status !== status) wrong.push(`${what}: ${reply.status}, not ${status} ${reply.text}`)
        await service.source.query('delete from auth_users')
      }
      expect(wrong).to.deep.equal([])
    })

    it('lists every fault of a body together, with location, path and message', async () => {
      const { body } = await service.post('/auth/signup', { name: '', email: 'x', password: 'short' })
      expect(body.errors.map(({ location, path }: Issue) => `${location} ${path}`).toSorted()).to.deep.equal([
        'body email',
        'body name',
        'body password',
      ])
      for (const { message } of body.errors) expect(message).to.be.a('string').and.not.contain('short')
    })

    it('takes every spelling of an address for the same one', async () => {
      const email = `${COMPOSED}va.Mail@Example.COM`
      expect((await service.post('/auth/signup', { ...ADA, email })).status).to.equal(201)
      const spellings = [
        `  ${COMPOSED}va.mail@example.com  `,
        `${DECOMPOSED}va.mail@example.com`,
        `${COMPOSED.toUpperCase()}VA.MAIL@EXAMPLE.COM`,
        `\u00a0${DECOMPOSED.toUpperCase()}va.mail@example.com\n`,
      ]
      for (const spelling of spellings) {
        expect((await service.post('/auth/signup', { ...ADA, email: spelling })).status).to.equal(409)
        const reply = await service.post('/auth/login', { email: spelling, password: PASSWORD })
        expect(reply.status).to.equal(200)
        expect(reply.body.user.email).to.equal(`${COMPOSED}va.mail@example.com`)
      }
    })

    it('verifies a password as it was sent but for its normal form', async () => {
      const password = ` ${COMPOSED}clair au chocolat `
      await service.post('/auth/signup', { ...ADA, password })
      const login = async (each: string) =>
        (await service.post('/auth/login', { email: ADA.email, password: each })).status
      expect(await login(password.normalize('NFD'))).to.equal(200)
      expect(await login(password.trim())).to.equal(401)
      expect(await login(password.toUpperCase())).to.equal(401)
    })

    it('stores argon2id and 64 hex digits, nothing that could be replayed', async () => {
      const { cookie, email, token } = await newcomer(service)
      await service.post('/auth/forgot-password', { email })
      const [user] = await service.source.query('select * from auth_users')
      expect(user.password_hash).to.match(/^\$argon2id\$v=19\$m=64,t=1,p=1\$/)
      const tables = ['auth_users', 'auth_refresh_tokens', 'auth_reset_tokens']
      const rows = await Promise.all(tables.map((table) => service.source.query(`select * from ${table}`)))
      const dump = JSON.stringify(rows)
      for (const part of [
        ...cookie.split('=')[1]!.split('.'),
        token,
        PASSWORD,
        ...service.mails.map((m) => m.token),
      ])
        expect(dump).not.to.contain(part)
    })

    it('takes only name, email and password from a signup', async () => {
      const { bearer, id } = await newcomer(service, {
        id: 'mine',
        role: 'admin',
        email_verified_at: '2020-01-01',
        password_hash: 'x',
        password_version: 9,
        created_at: '2000-01-01',
        raw: { role: 'admin' },
      })
      expect(id).not.to.equal('mine')
      const me = await service.send('GET', '/auth/me', { headers: bearer })
      expect(me.body.raw).not.to.have.property('role')
      expect(me.body.raw.email_verified_at).to.equal(null)
      const [row] = await service.source.query('select * from auth_users')
      expect(row).to.include({ id, password_version: 0, email_verified_at: null })
      expect(row.created_at).to.match(/^2031/)
    })

    const posts = ['signup', 'login', 'change-password', 'forgot-password', 'reset-password']
    const types = [
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
      'text/json',
    ]
    for (const path of [...posts, 'refresh', 'logout'])
      it(`refuses at ${path} whatever is not JSON`, async () => {
        const { bearer, cookie } = await newcomer(service)
        for (const type of types) {
          const headers = { ...bearer, cookie, 'content-type': type }
          expect((await service.post(`/auth/${path}`, '{"email":"a@b.cd"}', headers)).status, type).to.equal(
            415,
          )
        }
      })

    for (const path of posts)
      it(`refuses more than 16 KB at ${path} and survives 1 MB`, async () => {
        const { bearer } = await newcomer(service)
        const long = 'p'.repeat(1_000_000)
        const body = { name: long, email: long, password: long, current: long, next: long, token: long }
        expect((await service.post(`/auth/${path}`, body, bearer)).status).to.equal(413)
      })

    it('refuses every other method with 405 and an exact Allow', async () => {
      for (const path of [...posts, 'refresh', 'logout']) {
        const reply = await service.send('GET', `/auth/${path}`)
        expect([reply.status, reply.headers.allow], path).to.deep.equal([405, 'POST, OPTIONS'])
      }
      const me = await service.post('/auth/me')
      expect(me.status).to.equal(405)
      expect(me.headers.allow).to.match(/^GET, HEAD, OPTIONS$/)
    })

    it('guards HEAD like GET and answers OPTIONS with Allow alone', async () => {
      const { bearer } = await newcomer(service)
      expect((await service.send('HEAD', '/auth/me')).status).to.equal(401)
      expect((await service.send('HEAD', '/auth/me', { headers: bearer })).status).to.equal(200)
      expect((await service.send('OPTIONS', '/auth/me')).status).to.equal(204)
    })

    it('asks for a credential before it looks at a body', async () => {
      for (const body of ['{broken', '{}', undefined])
        expect((await service.post('/auth/change-password', body)).status).to.equal(401)
    })

    it('sends no-store with every response, errors included', async () => {
      const { bearer, cookie } = await newcomer(service)
      const replies = [
        await service.post('/auth/login', {}),
        await service.post('/auth/login', '{'),
        await service.post('/auth/login', 'x', { 'content-type': 'text/plain' }),
        await service.post('/auth/refresh', undefined, { cookie }),
        await service.send('GET', '/auth/me', { headers: bearer }),
        await service.send('GET', '/auth/me'),
        await service.post('/auth/logout'),
        await service.post('/auth/forgot-password', { email: 'a@b.cd' }),
        await service.post('/auth/reset-password', { token: 'x', password: PASSWORD }),
      ]
      for (const reply of replies) expect(reply.headers['cache-control'], reply.text).to.equal('no-store')
    })
  })
})
