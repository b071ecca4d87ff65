import { expect } from 'chai'
import { throughBothAdapters } from '../../../support/adapters.ts'
import { inWorld, signedUp } from '../support/world.ts'
import { cookieOf, newcomer, openService, PASSWORD, type Service } from './service.ts'

type Headers = Record<string, string>

/** Origin headers of browsers and other clients, and whether the cookie is accepted. */
const ORIGINS: readonly [string, (own: string) => Headers, boolean][] = [
  ['no header at all', () => ({}), true],
  ['same-origin', () => ({ 'sec-fetch-site': 'same-origin' }), true],
  ['none', () => ({ 'sec-fetch-site': 'none' }), true],
  ['same-site', () => ({ 'sec-fetch-site': 'same-site' }), false],
  ['cross-site', () => ({ 'sec-fetch-site': 'cross-site' }), false],
  ['an unknown value', () => ({ 'sec-fetch-site': 'whatever' }), false],
  ['an empty value', () => ({ 'sec-fetch-site': '' }), false],
  ['cross-site with the own origin', (own) => ({ 'sec-fetch-site': 'cross-site', origin: own }), false],
  ['the own origin', (own) => ({ origin: own }), true],
  ['a foreign origin', () => ({ origin: 'https://evil.example' }), false],
  ['the origin null', () => ({ origin: 'null' }), false],
  ['an empty origin', () => ({ origin: '' }), false],
  ['an origin with the own host before another', (own) => ({ origin: `${own}.evil.example` }), false],
  [
    'an origin with the own host as user',
    (own) => ({ origin: `http://${own.slice(7)}@evil.example` }),
    false,
  ],
  [
    'same-origin with a foreign origin',
    () => ({ 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }),
    true,
  ],
  ['the trusted origin', () => ({ 'sec-fetch-site': 'cross-site', origin: 'https://app.example.com' }), true],
  ['the trusted origin on another port', () => ({ origin: 'https://app.example.com:444' }), false],
  ['the trusted origin in plain http', () => ({ origin: 'http://app.example.com' }), false],
]

describe('cross-site requests to the auth endpoints', () => {
  throughBothAdapters((open) => {
    let service: Service
    beforeEach(async () => {
      service = await openService(open, { brick: { trustedOrigins: ['https://app.example.com'] } })
    })
    afterEach(() => service.leave())

    for (const [what, headersOf, allowed] of ORIGINS)
      it(`${allowed ? 'takes' : 'refuses'} the cookie with ${what} at refresh, logout and change-password`, async () => {
        const { cookie, bearer } = await newcomer(service)
        const headers = { cookie, ...headersOf(service.served.url) }
        const change = { current: PASSWORD, next: PASSWORD }
        const changed = await service.post('/auth/change-password', change, { ...headers, ...bearer })
        expect(changed.status).to.equal(allowed ? 200 : 403)
        const latest = allowed ? cookieOf(changed) : cookie
        const refreshed = await service.post('/auth/refresh', undefined, { ...headers, cookie: latest })
        expect(refreshed.status).to.equal(allowed ? 200 : 403)
        const last = allowed ? cookieOf(refreshed) : cookie
        const out = await service.post('/auth/logout', undefined, { ...headers, cookie: last })
        expect(out.status).to.equal(allowed ? 204 : 403)
        if (allowed) return
        for (const reply of [changed, refreshed, out]) {
          expect(reply.body.code).to.equal('cross_site_request')
          expect(reply.cookies).to.deep.equal([])
        }
        expect((await service.post('/auth/refresh', undefined, { cookie })).status).to.equal(200)
        expect(service.events.filter(({ type }) => type === 'auth.csrf.refused')).to.have.length(3)
      })

    it('lets nobody log anybody in from another site, since a form cannot send JSON', async () => {
      const { email } = await newcomer(service)
      const body = JSON.stringify({ email, password: PASSWORD })
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=b',
      ])
        expect((await service.post('/auth/login', body, { 'content-type': type })).status).to.equal(415)
    })

    it('needs no origin without the cookie', async () => {
      const { bearer } = await newcomer(service)
      const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
      expect((await service.post('/auth/logout', undefined, foreign)).status).to.equal(204)
      expect((await service.post('/auth/refresh', undefined, foreign)).status).to.equal(401)
      const change = { current: PASSWORD, next: 'another password' }
      expect(
        (await service.post('/auth/change-password', change, { ...bearer, ...foreign })).status,
      ).to.equal(200)
    })

    it('is not impressed by a Host or X-Forwarded-Host that agrees with the origin of an attacker', async () => {
      const { cookie } = await newcomer(service)
      const headers = { cookie, origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' }
      expect((await service.post('/auth/refresh', undefined, headers)).status).to.equal(403)
    })

    it('takes a second cookie of the name, tossed by a sibling domain, for no cookie', async () => {
      const victim = await newcomer(service)
      const attacker = await newcomer(service)
      for (const cookie of [`${attacker.cookie}; ${victim.cookie}`, `${victim.cookie}; ${attacker.cookie}`]) {
        const reply = await service.post('/auth/refresh', undefined, { cookie })
        expect(reply.status).to.equal(401)
      }
      const both = `${victim.cookie}; ${attacker.cookie}`
      expect((await service.post('/auth/logout', undefined, { cookie: both })).status).to.equal(204)
      for (const { cookie } of [victim, attacker])
        expect((await service.post('/auth/refresh', undefined, { cookie })).status).to.equal(200)
    })

    it('gives a new session at each login, whatever cookie was planted before it', async () => {
      const attacker = await newcomer(service)
      const victim = await newcomer(service)
      const body = { email: victim.email, password: PASSWORD }
      const reply = await service.post('/auth/login', body, { cookie: attacker.cookie })
      expect(cookieOf(reply)).not.to.equal(attacker.cookie)
      expect(reply.body.user.id).to.equal(victim.id)
      expect((await service.post('/auth/refresh', undefined, { cookie: attacker.cookie })).status).to.equal(
        401,
      )
    })
  })
})

describe('an application whose address only its provider knows', () => {
  const appUrl = 'https://notes.example.com'

  for (const [origin, status] of [
    [appUrl, 200],
    ['https://other.example.com', 403],
  ] as const)
    it(`responds with ${status} to the cookie from a page of ${origin}, behind a proxy that changes the host`, () =>
      inWorld({ auth: { appUrl } }, async (world) => {
        const client = await signedUp(world)
        const answer = await client.post('/auth/refresh', undefined, { origin, host: 'internal:3000' })
        expect(answer.status).to.equal(status)
      }))
})
