import { createHmac, createPublicKey } from 'node:crypto'
import { expect } from 'chai'
import { AUDIENCE, signingKey } from './support/key-server.ts'
import { inHostedWorld } from './support/world.ts'

const FAR = Date.UTC(2030, 0, 1, 12) / 1000

describe('tokens of a hosted provider', () => {
  for (const alg of ['RS256', 'ES256', 'EdDSA', 'Ed25519'])
    it(`are verified when signed with ${alg}`, async () => {
      const key = await signingKey('one', alg)
      await inHostedWorld({ keys: [key] }, async ({ client, server }) => {
        const token = await server.token(key, {
          email: 'ada@example.com',
          email_verified: true,
          name: 'Ada',
          role: 'admin',
        })
        const { status, body } = await client.withToken(token).get('/private')
        expect(status).to.equal(200)
        expect(body).to.deep.include({
          id: 'ada',
          email: 'ada@example.com',
          emailVerified: true,
          name: 'Ada',
        })
        expect(body.raw).to.include({ iss: server.issuer, aud: AUDIENCE, role: 'admin' })
      })
    })

  const refused: Record<string, [claims: Record<string, unknown>, header?: Record<string, unknown>]> = {
    'of another issuer': [{ iss: 'https://elsewhere.example.com' }],
    'whose issuer has one slash more': [{ iss: undefined }],
    'for another audience': [{ aud: 'https://other.example.com' }],
    'for a longer audience': [{ aud: `${AUDIENCE}.evil.example` }],
    'for no audience': [{ aud: null }],
    'that have expired': [{ exp: FAR - 6 }],
    'that never expire': [{ exp: null }],
    'that are not valid yet': [{ nbf: FAR + 6 }],
    'from the future': [{ iat: FAR + 6 }],
    'that are bound to a key by DPoP': [{ cnf: { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' } }],
    'that are bound to a client certificate': [
      { cnf: { 'x5t#S256': 'bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2' } },
    ],
    'that are bound to nothing in particular': [{ cnf: {} }],
    'of nobody': [{ sub: null }],
    'of an empty name': [{ sub: '' }],
    'of a number': [{ sub: 7 }],
    'of a name with 256 characters': [{ sub: 'x'.repeat(256) }],
    'for logging out': [{}, { typ: 'logout+jwt' }],
    'for logging out, of a server that does not type them': [
      { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } },
    ],
    'for proving possession': [{}, { typ: 'dpop+jwt' }],
    'with an extension that must be understood': [{}, { crit: ['x-more'], 'x-more': 1 }],
    'with an unknown key': [{}, { kid: 'nobody' }],
  }
  for (const [which, [claims, header]] of Object.entries(refused))
    it(`${which} are refused`, async () => {
      const key = await signingKey('one')
      await inHostedWorld({ keys: [key] }, async ({ server, statusOf }) => {
        const iss = 'iss' in claims && claims['iss'] === undefined ? `${server.issuer}/` : server.issuer
        expect(await statusOf(await server.token(key, { iss, ...defined(claims) }, header))).to.equal(401)
      })
    })

  const accepted: Record<string, [claims: Record<string, unknown>, header?: Record<string, unknown>]> = {
    'for several audiences': [{ aud: ['https://other.example.com', AUDIENCE] }],
    'of a name with 255 characters': [{ sub: 'x'.repeat(255) }],
    'that expired within the tolerance': [{ exp: FAR - 4 }],
    'from a clock that is a little ahead': [{ iat: FAR + 4, nbf: FAR + 4 }],
    'of the kind at+jwt': [{}, { typ: 'at+jwt' }],
    'of the kind application/at+JWT': [{}, { typ: 'application/at+JWT' }],
    'of the kind JWT': [{}, { typ: 'JWT' }],
    'with events of an application': [{ events: ['signed-in'] }],
    'without a key name, when one key fits': [{}, { kid: null }],
  }
  for (const [which, [claims, header]] of Object.entries(accepted))
    it(`${which} are accepted`, async () => {
      const key = await signingKey('one')
      await inHostedWorld({ keys: [key] }, async ({ server, statusOf }) => {
        expect(await statusOf(await server.token(key, claims, header))).to.equal(200)
      })
    })

  it('without a key name are refused when two keys fit', async () => {
    const keys = [await signingKey('one'), await signingKey('two')]
    await inHostedWorld({ keys }, async ({ server, statusOf }) => {
      expect(await statusOf(await server.token(keys[0]!, {}, { kid: null }))).to.equal(401)
    })
  })

  it('are refused when a byte of them was changed', async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key] }, async ({ server, statusOf }) => {
      const [header, payload, signature] = (await server.token(key)).split('.') as [string, string, string]
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
      const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'root' })).toString('base64url')
      expect(await statusOf(`${header}.${forged}.${signature}`)).to.equal(401)
      expect(await statusOf(`${header}.${payload}.${signature.slice(0, -4)}AAAA`)).to.equal(401)
      expect(await statusOf(`${header}.${payload}.`)).to.equal(401)
    })
  })

  it('are refused when they choose another algorithm for the published key', async () => {
    const key = await signingKey('one')
    const pem = createPublicKey({ key: key.jwk as never, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    })
    await inHostedWorld({ keys: [key] }, async ({ server, statusOf }) => {
      const [, payload] = (await server.token(key)).split('.') as [string, string]
      const secrets = [pem, JSON.stringify(key.jwk), key.jwk.n!, Buffer.from(key.jwk.n!, 'base64url'), '']
      for (const alg of ['HS256', 'HS384', 'none', 'None', 'RS256'])
        for (const secret of secrets) {
          const header = Buffer.from(JSON.stringify({ alg, kid: 'one', typ: 'JWT' })).toString('base64url')
          const signature = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')
          expect(await statusOf(`${header}.${payload}.${signature}`), alg).to.equal(401)
          expect(await statusOf(`${header}.${payload}.`), alg).to.equal(401)
        }
    })
  })

  it('are not verified with a key that they bring along or point to', async () => {
    const [own, foreign] = [await signingKey('one'), await signingKey('foreign')]
    await inHostedWorld({ keys: [own] }, async ({ server, statusOf }) => {
      const jku = `${server.issuer}/evil`
      for (const header of [{ jwk: foreign.jwk }, { jku, kid: 'foreign' }, { x5u: jku }, { kid: 'one' }])
        expect(await statusOf(await server.token(foreign, {}, header))).to.equal(401)
      expect(server.asked).to.not.include('/evil')
    })
  })

  it('are refused when their algorithm is not one of those that are accepted', async () => {
    const [rsa, ec] = [await signingKey('one', 'RS256'), await signingKey('two', 'ES256')]
    await inHostedWorld(
      { keys: [rsa, ec], hosted: { algorithms: ['ES256'] } },
      async ({ server, statusOf }) => {
        expect(await statusOf(await server.token(rsa))).to.equal(401)
        expect(await statusOf(await server.token(ec))).to.equal(200)
      },
    )
  })

  it('of 17 KB are refused unread', async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key] }, async ({ app, server }) => {
      const token = await server.token(key, { padding: 'x'.repeat(17 * 1024) })
      const { statusCode } = await app.inject({ url: `/private?access_token=${token}` })
      expect(statusCode).to.equal(401)
      expect(server.asked).to.deep.equal([])
    })
  })
})

describe('what a hosted provider may be told of its tokens', () => {
  it('authorised parties: a token of another client, or of none, is refused', async () => {
    const key = await signingKey('one')
    const hosted = { authorizedParties: ['https://app.example.com'] }
    await inHostedWorld({ keys: [key], hosted }, async ({ server, statusOf }) => {
      expect(await statusOf(await server.token(key, { azp: 'https://app.example.com' }))).to.equal(200)
      expect(await statusOf(await server.token(key, { azp: 'https://evil.example.com' }))).to.equal(401)
      expect(await statusOf(await server.token(key))).to.equal(401)
    })
  })

  it('another claim for the audience, and values of claims', async () => {
    const key = await signingKey('one')
    const hosted = {
      audienceClaim: 'client_id',
      audience: ['web', 'phone'],
      claims: { use: ['access', null] },
    }
    await inHostedWorld({ keys: [key], hosted }, async ({ server, statusOf }) => {
      const status = async (claims: object) => statusOf(await server.token(key, { aud: null, ...claims }))
      expect(await status({ client_id: 'web', use: 'access' })).to.equal(200)
      expect(await status({ client_id: 'phone' })).to.equal(200)
      expect(await status({ client_id: 'phone', use: 'id' })).to.equal(401)
      expect(await status({ client_id: 'other', use: 'access' })).to.equal(401)
      expect(await status({ aud: 'web', use: 'access' })).to.equal(401)
    })
  })

  it('kinds of token: then others and none are refused', async () => {
    const key = await signingKey('one')
    for (const type of ['at+jwt', 'at+JWT', 'application/at+jwt'])
      await inHostedWorld({ keys: [key], hosted: { types: [type] } }, async ({ server, statusOf }) => {
        expect(await statusOf(await server.token(key, {}, { typ: 'at+jwt' })), type).to.equal(200)
        expect(await statusOf(await server.token(key, {}, { typ: 'JWT' })), type).to.equal(401)
        expect(await statusOf(await server.token(key)), type).to.equal(401)
      })
  })

  it('its cookie, after the header and the own cookie', async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key], hosted: { cookie: '__session' } }, async ({ client, server }) => {
      const token = await server.token(key)
      const status = async (headers: Record<string, string>) =>
        (await client.get('/private', { headers })).status
      expect(await status({ cookie: `__session=${token}` })).to.equal(200)
      expect(await status({ cookie: `__session=${token}`, authorization: 'Bearer garbage' })).to.equal(401)
    })
  })

  it('what a user is made of; an address that is not verified is in the raw record only', async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key] }, async ({ client, server }) => {
      for (const verified of [false, 'true', 'false', 1, 0, {}, null, undefined]) {
        const token = await server.token(key, {
          email: 'root@example.com',
          ...(verified === undefined ? {} : { email_verified: verified }),
        })
        const { body } = await client.withToken(token).get('/private')
        expect(body, String(verified)).to.not.have.property('email')
        expect(body.emailVerified, String(verified)).to.equal(false)
        expect(body.raw.email).to.equal('root@example.com')
      }
      const without = await server.token(key, { email_verified: true })
      expect((await client.withToken(without).get('/private')).body.emailVerified).to.equal(false)
    })
    const hosted = {
      toUser: (claims: Readonly<Record<string, unknown>>) =>
        claims['banned'] ? null : { id: `x:${String(claims['sub'])}`, raw: {} },
    }
    await inHostedWorld({ keys: [key], hosted }, async ({ client, server, statusOf }) => {
      expect((await client.withToken(await server.token(key)).get('/private')).body.id).to.equal('x:ada')
      expect(await statusOf(await server.token(key, { banned: true }))).to.equal(401)
    })
  })
})

function defined(claims: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined))
}
