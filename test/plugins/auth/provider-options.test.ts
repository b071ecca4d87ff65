import { expect } from 'chai'
import { auth } from '@mortar/auth'
import { StartupError } from 'mortar'
import { ADA, inWorld, signedUp, type WorldOptions } from './support/world.ts'

const claimsIn = (token = '.') =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { iss: string; aud: string }

describe('Options of the provider with e-mail and password', () => {
  const APP = 'https://app.example.com'
  for (const [what, options, iss, aud] of [
    ['mortar where no address is known', {}, 'mortar', 'mortar'],
    ["the application's address without its slash", { app: { appUrl: `${APP}/` } }, APP, APP],
    ['their own appUrl', { app: { appUrl: 'https://other.example' }, auth: { appUrl: `${APP}/` } }, APP, APP],
    ['what issuer says', { app: { appUrl: APP }, auth: { issuer: 'me' } }, 'me', 'me'],
    ['what audience says', { auth: { issuer: 'me', audience: 'you' } }, 'me', 'you'],
  ] as [string, WorldOptions, string, string][])
    it(`make tokens with the issuer and audience of ${what}`, () =>
      inWorld(options, async (world) => {
        const { accessToken } = await signedUp(world)
        expect(claimsIn(accessToken)).to.include({ iss, aud })
      }))

  for (const [options, name] of [
    [{ auth: { cookieName: 'own' } }, 'own'],
    [{ auth: { secureCookie: true } }, '__Host-mortar_refresh'],
    [{ auth: { cookieName: 'own', secureCookie: true } }, '__Host-own'],
    [{ auth: { appUrl: APP } }, '__Host-mortar_refresh'],
    [{ auth: { appUrl: APP, secureCookie: false } }, 'mortar_refresh'],
  ] as [WorldOptions, string][])
    it(`${JSON.stringify(options.auth)} name the cookie ${name}, and read it`, () =>
      inWorld(options, async (world) => {
        const client = world.client()
        const { setCookie } = await client.post('/auth/signup', ADA)
        expect(setCookie!.split('=')[0]).to.equal(name)
        expect((await client.post('/auth/refresh')).status).to.equal(200)
      }))
})

describe('The auth brick', () => {
  const provider = (name: string) => ({
    name,
    identify: () => null,
    securityScheme: { name: 'token', scheme: { type: 'http', scheme: 'bearer' } as const },
  })
  for (const [what, make, code] of [
    ['a provider whose name is empty', () => auth(provider('')), 'MORTAR_AUTH_PROVIDER'],
    ['a timeout of zero', () => auth(provider('own'), { timeout: 0 }), 'MORTAR_OPTION_TYPE'],
  ] as const)
    it(`refuses ${what}`, () => {
      expect(make).to.throw(StartupError).with.property('code', code)
    })
})
