import { expect } from 'chai'
import { auth0, keycloak } from '@mortar/auth-hosted'
import { signingKey } from './support/key-server.ts'
import { inHostedWorld } from './support/world.ts'

const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'

describe('the issuers of a hosted provider', () => {
  it('may be several, each with the keys that it publishes', async () => {
    const [one, two] = [await signingKey('one'), await signingKey('two')]
    await inHostedWorld({ keys: [two] }, async ({ server: other }) => {
      const issuers = (own: string) => [own, other.issuer]
      await inHostedWorld({ keys: [one], issuers }, async ({ server, statusOf }) => {
        expect(await statusOf(await server.token(one))).to.equal(200)
        expect(await statusOf(await server.token(two, { iss: other.issuer }))).to.equal(200)
        // The key of one issuer signs nothing for the other.
        expect(await statusOf(await server.token(one, { iss: other.issuer }))).to.equal(401)
        expect(await statusOf(await server.token(two))).to.equal(401)
        expect(await statusOf(await server.token(one, { iss: 'https://third.example.com' }))).to.equal(401)
      })
    })
  })

  it('keep apart the users of several providers, which may give one sub to different people', async () => {
    const [one, two] = [await signingKey('one'), await signingKey('two')]
    await inHostedWorld({ keys: [two] }, async ({ server: other }) => {
      const issuers = (own: string) => [own, other.issuer]
      await inHostedWorld({ keys: [one], issuers }, async ({ server, userOf }) => {
        const first = await userOf(await server.token(one, { sub: 'u1' }))
        const second = await userOf(await server.token(two, { sub: 'u1', iss: other.issuer }))
        expect([first.id, second.id]).to.deep.equal([`${server.issuer}#u1`, `${other.issuer}#u1`])
      })
    })
  })

  it('of one provider, with keys at one address, share the ids of their users', async () => {
    const key = await signingKey('one')
    const issuers = () => ['https://accounts.google.com', 'accounts.google.com']
    await inHostedWorld({ keys: [key], issuers, jwks: true }, async ({ server, userOf }) => {
      for (const iss of issuers())
        expect((await userOf(await server.token(key, { iss, sub: 'u1' }))).id, iss).to.equal('u1')
    })
  })

  it('need not be addresses where jwksUrl says where the keys are', async () => {
    const key = await signingKey('one')
    const issuers = () => ['https://accounts.google.com', 'accounts.google.com', 'stytch.com/project-1']
    await inHostedWorld({ keys: [key], issuers, jwks: true }, async ({ server, statusOf }) => {
      for (const iss of issuers()) expect(await statusOf(await server.token(key, { iss })), iss).to.equal(200)
      for (const iss of ['http://accounts.google.com', 'google.com', 'stytch.com/project-2', server.issuer])
        expect(await statusOf(await server.token(key, { iss })), iss).to.equal(401)
    })
  })

  it('may hold the tenant, which must be the one that the token names', async () => {
    const key = await signingKey('one')
    const issuers = () => ['https://login.example.com/{tenantid}/v2.0']
    await inHostedWorld({ keys: [key], issuers, jwks: true }, async ({ server, statusOf }) => {
      const iss = (tenant: string) => `https://login.example.com/${tenant}/v2.0`
      const status = async (claims: Record<string, unknown>) => statusOf(await server.token(key, claims))
      expect(await status({ iss: iss(TENANT), tid: TENANT })).to.equal(200)
      expect(await status({ iss: iss(TENANT) })).to.equal(401)
      expect(await status({ iss: iss(TENANT), tid: 'another' })).to.equal(401)
      expect(await status({ iss: iss('{tenantid}'), tid: '{tenantid}' })).to.equal(401)
      expect(await status({ iss: iss('{tenantid}'), tid: TENANT })).to.equal(401)
      expect(await status({ iss: iss('evil/../x'), tid: 'evil/../x' })).to.equal(401)
      expect(await status({ iss: iss(''), tid: '' })).to.equal(401)
      for (const tid of ['.', '..', '...']) expect(await status({ iss: iss(tid), tid }), tid).to.equal(401)
      expect(await status({ iss: iss('7'), tid: 7 })).to.equal(401)
    })
  })

  it('sign with PS256 where the preset says that they do', async () => {
    const key = await signingKey('one', 'PS256')
    for (const { algorithms } of [
      auth0({ domain: 'example.eu.auth0.com', audience: 'a' }),
      keycloak({ url: 'https://sso.example.com', realm: 'r', audience: 'a' }),
    ])
      await inHostedWorld(
        { keys: [key], hosted: { algorithms: algorithms! } },
        async ({ server, statusOf }) => {
          expect(await statusOf(await server.token(key))).to.equal(200)
        },
      )
    await inHostedWorld({ keys: [key] }, async ({ server, statusOf }) => {
      expect(await statusOf(await server.token(key))).to.equal(401)
    })
  })
})
