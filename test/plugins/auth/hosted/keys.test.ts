import { expect } from 'chai'
import { json, signingKey } from './support/key-server.ts'
import { inHostedWorld } from './support/world.ts'

const jwks = (asked: readonly string[]): number => asked.filter((path) => path === '/jwks').length

describe('the keys of a hosted provider', () => {
  it('are found through its metadata and fetched once for many requests', async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key] }, async ({ server, statusOf }) => {
      const token = await server.token(key)
      const statuses = await Promise.all(Array.from({ length: 50 }, () => statusOf(token)))
      expect(new Set(statuses)).to.deep.equal(new Set([200]))
      expect(await statusOf(token)).to.equal(200)
      expect(server.asked).to.deep.equal(['/.well-known/openid-configuration', '/jwks'])
    })
  })

  it('are found through the metadata of an issuer that ends with a slash', async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key], issuers: (own) => [`${own}/`] }, async ({ server, statusOf }) => {
      const iss = `${server.issuer}/`
      server.answer = (_, response) =>
        json(response, { issuer: iss, jwks_uri: `${iss}jwks`, keys: server.keys })
      expect(await statusOf(await server.token(key, { iss }))).to.equal(200)
      expect(server.asked).to.deep.equal(['/.well-known/openid-configuration', '/jwks'])
    })
  })

  it('are fetched from jwksUrl without metadata', async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key] }, async ({ server }) => {
      const hosted = { issuer: 'https://sign-in.example.com', jwksUrl: `${server.issuer}/jwks` }
      await inHostedWorld({ keys: [], hosted }, async (world) => {
        expect(await world.statusOf(await server.token(key, { iss: hosted.issuer }))).to.equal(200)
        expect(server.asked).to.deep.equal(['/jwks'])
        expect(world.server.asked).to.deep.equal([])
      })
    })
  })

  it('may change at any time: a token of a new key is accepted immediately, with one fetch for all', async () => {
    const [first, second] = [await signingKey('one'), await signingKey('two')]
    await inHostedWorld({ keys: [first] }, async ({ server, statusOf }) => {
      expect(await statusOf(await server.token(first))).to.equal(200)
      server.keys = [second.jwk]
      const token = await server.token(second)
      const statuses = await Promise.all(Array.from({ length: 50 }, () => statusOf(token)))
      expect(new Set(statuses)).to.deep.equal(new Set([200]))
      expect(jwks(server.asked)).to.equal(2)
      expect(await statusOf(await server.token(first))).to.equal(401)
    })
  })

  it('are asked for a few times for made-up names, and then once in a cool-down', async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key] }, async ({ server, statusOf, clock }) => {
      expect(await statusOf(await server.token(key))).to.equal(200)
      for (let made = 0; made < 20; made++)
        expect(await statusOf(await server.token(key, {}, { kid: `made-up-${made}` }))).to.equal(401)
      expect(jwks(server.asked)).to.equal(4)
      clock.advance('6s')
      for (let made = 0; made < 5; made++)
        expect(await statusOf(await server.token(key, {}, { kid: `made-up-${made}` }))).to.equal(401)
      expect(jwks(server.asked)).to.equal(5)
    })
  })

  it('are asked for again after their lifetime, so that a withdrawn one ends', async () => {
    const [first, second] = [await signingKey('one'), await signingKey('two')]
    await inHostedWorld({ keys: [first] }, async ({ server, statusOf, clock }) => {
      const token = await server.token(first, { exp: clock.now() / 1000 + 3600 })
      expect(await statusOf(token)).to.equal(200)
      server.keys = [second.jwk]
      clock.advance('9m')
      expect(await statusOf(token)).to.equal(200)
      clock.advance('2m')
      expect(await statusOf(token)).to.equal(401)
    })
  })

  it("are not asked for at all for another issuer's token, or for garbage", async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key] }, async ({ server, statusOf }) => {
      expect(await statusOf(await server.token(key, { iss: 'https://elsewhere.example.com' }))).to.equal(401)
      for (const token of ['garbage', 'a.b.c', '.', '..', 'eyJhbGciOiJub25lIn0.e30.'])
        expect(await statusOf(token)).to.equal(401)
      expect(server.asked).to.deep.equal([])
    })
  })

  it('count only when one of the name and type is there: not symmetric, private, for encryption, or twice', async () => {
    const [key, other] = [await signingKey('one'), await signingKey('two')]
    const d = 'AQAB'
    const symmetric = { kty: 'oct', k: 'c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0', kid: 'one' }
    const useless = [
      [symmetric],
      [{ ...key.jwk, d }],
      [{ ...key.jwk, use: 'enc' }],
      [{ ...key.jwk, key_ops: ['encrypt'] }],
      [{ ...key.jwk, alg: 'RS512' }],
      [{ ...key.jwk, n: 'AQAB' }],
      [{ kid: 'one', kty: 'RSA' }],
      [key.jwk, { ...other.jwk, kid: 'one' }],
      [null, 'one', ['one'], 7],
      [],
    ]
    for (const keys of useless)
      await inHostedWorld({ keys: [key] }, async ({ server, statusOf }) => {
        server.keys = keys
        expect(await statusOf(await server.token(key)), JSON.stringify(keys)).to.equal(401)
      })
    await inHostedWorld({ keys: [key] }, async ({ server, statusOf }) => {
      server.keys = [symmetric, null, key.jwk]
      expect(await statusOf(await server.token(key))).to.equal(200)
    })
  })
})
