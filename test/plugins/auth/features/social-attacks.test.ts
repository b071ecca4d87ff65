import { expect } from 'chai'
import type { Client } from '../support/client.ts'
import { inWorld as onSqlite, signedUp } from '../support/world.ts'
import type { Mischief } from './support/issuer.ts'
import { CLIENT, GRACE, refresh, refused, socialScene, targetOf } from './support/social-scene.ts'

describe('social()', () => {
  const scene = socialScene()
  const { withSocial, visit } = scene

  describe('refuses, and signs nobody in:', () => {
    const other = 'http://127.0.0.1:1'
    const mischiefs: Readonly<Record<string, readonly [Mischief, (string | undefined)?, string?]>> = {
      'a callback of another issuer (mix-up)': [{ callback: { iss: other } }],
      'a callback without the issuer that the provider promises': [{ callback: { iss: undefined } }],
      'a token of another issuer': [{ claims: { iss: other } }],
      'a token for another client': [{ claims: { aud: 'somebody' } }],
      'a token for several clients without azp': [{ claims: { aud: ['notes', 'somebody'] } }],
      'a token for several clients with another azp': [
        { claims: { aud: ['notes', 'somebody'], azp: 'somebody' } },
      ],
      'a token with another nonce': [{ claims: { nonce: 'x' } }],
      'a token without a nonce': [{ claims: { nonce: undefined } }],
      'a token without the context that the option asks for': [
        { claims: { acr: 'low' } },
        undefined,
        '/auth/social/strict',
      ],
      'a token whose user has signed in too long ago': [
        { claims: { auth_time: 1_000_000_000 } },
        undefined,
        '/auth/social/strict',
      ],
      'a token that has expired': [{ claims: { exp: 1_000_000_000 } }],
      'a token without an expiry': [{ claims: { exp: undefined } }],
      'a token without a subject': [{ claims: { sub: undefined } }],
      'a token that another key has signed': [{ foreignKey: true }],
      'a token without a signature': [{ idToken: (token) => `${token.split('.').slice(0, 2).join('.')}.` }],
      'a token with the algorithm none': [
        {
          idToken: (token) =>
            `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]!}.`,
        },
      ],
      'a response without a token': [{ idToken: () => undefined }],
      'a code that the provider does not know': [{ callback: { code: 'x' } }],
      'a callback without a code': [{ callback: { code: undefined } }],
      'a user who declines': [{ callback: { code: undefined, error: 'access_denied' } }, 'access_denied'],
      'a provider that fails': [{ callback: { code: undefined, error: 'server_error' } }],
      'a token endpoint with status 500': [
        { token: (response) => void response.writeHead(500).end('boom') },
        'provider_unavailable',
      ],
      'a token endpoint that does not send JSON': [
        { token: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>') },
      ],
      'a token endpoint that closes the connection': [
        { token: (response) => void response.socket?.destroy() },
        'provider_unavailable',
      ],
      'a state that no cookie has': [{ callback: { state: 'A'.repeat(43) } }, 'sign_in_expired'],
      'a state with more than its characters': [
        { callback: { state: `${'A'.repeat(43)}\r\nset-cookie: a=b` } },
        'sign_in_expired',
      ],
      'a callback without a state': [{ callback: { state: undefined } }, 'sign_in_expired'],
    }
    for (const [what, [mischief, code = 'sign_in_failed', begin]] of Object.entries(mischiefs))
      it(what, () =>
        onSqlite(withSocial(), async (world) => {
          const client = world.client()
          const answer = await visit(client, GRACE, mischief, begin)
          expect(targetOf(answer)).to.equal(refused(code))
          expect(await refresh(client)).to.equal(401)
          expect(world.events.at(-2)?.type).to.equal('auth.social.failed')
          expect(world.events.at(-2)?.event['reason']).to.equal(code)
          expect(await world.storage.sessions()).to.have.length(0)
        }),
      )

    it('the callback of another browser, of another provider, a second time, and too late', () =>
      onSqlite(withSocial(), async (world) => {
        const begin = async (client: Client, path = '/auth/social/company') =>
          scene.issuer.signIn(String((await client.get(path)).headers['location']), GRACE)
        const client = world.client()
        expect(targetOf(await world.client().get(await begin(client)))).to.equal(refused('sign_in_expired'))
        const elsewhere = (await begin(client)).replace('company', 'guests')
        expect(targetOf(await client.get(elsewhere))).to.equal(refused('sign_in_expired'))
        const callback = await begin(client)
        const copy = client.copy()
        expect(targetOf(await client.get(callback))).to.equal('302 /')
        expect(targetOf(await client.get(callback))).to.equal(refused('sign_in_expired'))
        expect(targetOf(await copy.get(callback))).to.equal(refused('sign_in_failed'))
        const late = await begin(client)
        world.clock.advance(601)
        expect(targetOf(await client.get(late))).to.equal(refused('sign_in_expired'))
      }))

    it('a link whose session has ended, and an account that somebody else has', () =>
      onSqlite(withSocial(), async (world) => {
        await visit(world.client())
        const ada = await signedUp(world)
        const link = async () =>
          scene.issuer.signIn((await ada.post('/auth/social/company/link', {})).body.url, GRACE)
        expect(targetOf(await ada.get(await link()))).to.equal(refused('account_linked_elsewhere'))
        const late = await link()
        await ada.copy().post('/auth/logout')
        expect(targetOf(await ada.get(late))).to.equal(refused('invalid_token'))
      }))
  })

  it('keeps two tabs apart, and a fifth flow clears the cookies of the others', () =>
    onSqlite(withSocial(), async (world) => {
      const client = world.client()
      const first = await client.get('/auth/social/company?return=/one')
      const second = await client.get('/auth/social/company?return=/two')
      const back = await scene.issuer.signIn(String(first.headers['location']), GRACE)
      expect(targetOf(await client.get(back))).to.equal('302 /one')
      expect(
        targetOf(await client.get(await scene.issuer.signIn(String(second.headers['location']), GRACE))),
      ).to.equal('302 /two')
      const counts = []
      for (let count = 0; count < 6; count++) {
        await client.get('/auth/social/company')
        counts.push([...client.cookies.keys()].filter((name) => name.includes('social')).length)
      }
      expect(counts).to.deep.equal([1, 2, 3, 4, 1, 2])
    }))

  it('does not use up a callback that a program asks for by HEAD', () =>
    onSqlite(withSocial(), async (world) => {
      const client = world.client()
      const begun = await client.get('/auth/social/company')
      const callback = await scene.issuer.signIn(String(begun.headers['location']), GRACE)
      const cookie = [...client.cookies].map((each) => each.join('=')).join('; ')
      const head = await world.app.inject({ method: 'HEAD', url: callback, headers: { cookie } })
      expect([head.statusCode, head.headers['location']]).to.deep.equal([302, '/sign-in?from=social'])
      expect(targetOf(await client.get(callback))).to.equal('302 /')
    }))

  it('refuses a return that is not a path of the application', () =>
    onSqlite(withSocial(), async (world) => {
      const client = world.client()
      const addresses = [
        'https://evil.example',
        '//evil.example',
        '/\\evil.example',
        '\\\\evil.example',
        '/\t/evil.example',
        '/\n/evil.example',
        ' //evil.example',
        '/ /evil.example',
        'javascript:alert(1)',
        'evil',
        '',
        '/\u0000/x',
        '///evil.example',
        '/\u2028/evil',
        'http:/evil.example',
        '/\\/evil.example',
        'data:text/html,x',
        '/\r\nLocation: https://evil.example',
      ]
      for (const each of addresses) {
        const { status, headers } = await client.get(
          `/auth/social/company?return=${encodeURIComponent(each)}`,
        )
        if (status === 302)
          expect(String(headers['location']), each).to.match(new RegExp(`^${scene.issuer.url}/auth`))
        else expect(status, each).to.equal(422)
      }
      expect((await client.get('/auth/social/nobody')).status).to.equal(404)
    }))

  it('refuses to begin a sign-in for a page of another site', () =>
    onSqlite(withSocial(), async (world) => {
      const begin = (site: string) => world.client().get('/auth/social/company', { 'sec-fetch-site': site })
      const { status, body } = await begin('cross-site')
      expect([status, body.code]).to.deep.equal([403, 'cross_site_request'])
      for (const site of ['same-origin', 'same-site', 'none'])
        expect((await begin(site)).status).to.equal(302)
    }))

  it('says 502 when the provider is away, and works once it is back', () =>
    onSqlite(withSocial(), async (world) => {
      scene.issuer.isDown = true
      const client = world.client()
      const answer = await client.get('/auth/social/company')
      expect([answer.status, answer.body.code]).to.deep.equal([502, 'provider_unavailable'])
      scene.issuer.isDown = false
      expect(targetOf(await visit(client))).to.equal('302 /')
    }))

  it('asks for a recent proof to link and to unlink', () =>
    onSqlite(withSocial(), async (world) => {
      const client = await signedUp(world)
      world.clock.advance(601)
      const answers = [
        await client.post('/auth/social/company/link', {}),
        await client.delete('/auth/accounts/x'),
      ]
      expect(answers.map(({ status, body }) => `${status} ${body.code}`)).to.deep.equal([
        '403 reauthentication_required',
        '403 reauthentication_required',
      ])
    }))

  it('shows no code and no token in events and log lines', async () => {
    const lines: string[] = []
    const write = (fields: object, message?: string) => void lines.push(JSON.stringify([fields, message]))
    const logger = { debug: write, info: write, warn: write, error: write, child: () => logger }
    await onSqlite({ ...withSocial(), app: { logger: logger as never } }, async (world) => {
      const client = world.client()
      const begun = await client.get('/auth/social/company')
      const callback = await scene.issuer.signIn(String(begun.headers['location']), GRACE)
      const { searchParams } = new URL(callback, scene.issuer.url)
      const cookie = [...client.cookies.values()][0]!
      await client.get(callback)
      const seen = JSON.stringify(world.events) + lines.join('')
      expect(lines).not.to.deep.equal([])
      for (const secret of [
        searchParams.get('code')!,
        searchParams.get('state')!,
        cookie,
        CLIENT.clientSecret,
      ])
        expect(seen).not.to.include(secret)
    })
  })
})
