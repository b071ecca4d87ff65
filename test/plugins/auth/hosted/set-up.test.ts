import { expect } from 'chai'
import { createApp, type Environment, type StartupError } from 'mortar'
import { auth } from '@mortar/auth'
import {
  auth0,
  clerk,
  cognito,
  firebase,
  hostedAuth,
  keycloak,
  supabase,
  type HostedAuthOptions,
} from '@mortar/auth-hosted'
import { AUDIENCE, signingKey } from './support/key-server.ts'
import { inHostedWorld } from './support/world.ts'

const issuer = 'https://sign-in.example.com'

async function failureOf(options: unknown, environment: Environment = 'test'): Promise<StartupError> {
  try {
    const app = createApp({ environment, logger: false, signals: false })
    await app.use(auth(hostedAuth(options as HostedAuthOptions))).ready()
    await app.close()
  } catch (error) {
    return error as StartupError
  }
  throw new Error('It started.')
}

describe('the set-up of a hosted provider', () => {
  const wrong: Record<string, [options: unknown, code: string, says: string]> = {
    'no options': [undefined, 'MORTAR_AUTH_ISSUER', 'issuer'],
    'no issuer': [{ audience: AUDIENCE }, 'MORTAR_AUTH_ISSUER', 'issuer'],
    'an issuer without its scheme': [
      { issuer: 'example.com', audience: 'a' },
      'MORTAR_AUTH_ISSUER',
      'example.com',
    ],
    'an issuer without its scheme in a list': [
      { issuer: [issuer, 'example.com'], audience: 'a' },
      'MORTAR_AUTH_ISSUER',
      'example.com',
    ],
    'an empty list of issuers': [{ issuer: [], audience: 'a' }, 'MORTAR_AUTH_ISSUER', 'empty list'],
    'an issuer for each tenant and no jwksUrl': [
      { issuer: 'https://login.example.com/{tenantid}/v2.0', audience: 'a' },
      'MORTAR_AUTH_ISSUER',
      'jwksUrl',
    ],
    'an issuer that cannot be in a token, with jwksUrl': [
      { issuer: 'not an issuer', jwksUrl: `${issuer}/jwks`, audience: 'a' },
      'MORTAR_AUTH_ISSUER',
      'not an issuer',
    ],
    'no issuer, with jwksUrl': [
      { jwksUrl: `${issuer}/jwks`, audience: 'a' },
      'MORTAR_AUTH_ISSUER',
      'missing',
    ],
    'an issuer with a fragment': [
      { issuer: 'https://x.example/#a', audience: 'a' },
      'MORTAR_AUTH_ISSUER',
      'fragment',
    ],
    'an issuer of another scheme': [{ issuer: 'ftp://x', audience: 'a' }, 'MORTAR_AUTH_ISSUER', 'ftp'],
    'an invalid jwksUrl': [{ issuer, audience: 'a', jwksUrl: '/jwks' }, 'MORTAR_AUTH_ISSUER', 'jwksUrl'],
    'a jwksUrl with a password': [
      { issuer, audience: 'a', jwksUrl: 'https://a:b@c' },
      'MORTAR_AUTH_ISSUER',
      'password',
    ],
    'neither audience nor parties': [{ issuer }, 'MORTAR_AUTH_AUDIENCE', 'neither `audience` nor'],
    'an empty audience': [{ issuer, audience: '' }, 'MORTAR_AUTH_AUDIENCE', 'neither `audience` nor'],
    'no audience in the list': [{ issuer, audience: [] }, 'MORTAR_AUTH_AUDIENCE', 'neither `audience` nor'],
    'a shared secret algorithm': [
      { issuer, audience: 'a', algorithms: ['HS256'] },
      'MORTAR_AUTH_OPTION',
      'HS256',
    ],
    'the algorithm none': [{ issuer, audience: 'a', algorithms: ['none'] }, 'MORTAR_AUTH_OPTION', 'none'],
    'no algorithm': [{ issuer, audience: 'a', algorithms: [] }, 'MORTAR_AUTH_OPTION', 'algorithms'],
    'a tolerance of an hour': [
      { issuer, audience: 'a', clockTolerance: '1h' },
      'MORTAR_AUTH_OPTION',
      'clockTolerance',
    ],
    'a key lifetime of nothing': [
      { issuer, audience: 'a', keyLifetime: 0 },
      'MORTAR_AUTH_OPTION',
      'keyLifetime',
    ],
    'an invalid timeout': [{ issuer, audience: 'a', timeout: 'soon' }, 'MORTAR_AUTH_OPTION', 'timeout'],
  }
  for (const [what, [options, code, says]] of Object.entries(wrong))
    it(`with ${what} is refused`, async () => {
      const error = await failureOf(options)
      expect(error).to.include({ name: 'StartupError', code })
      expect(error.message).to.contain(says)
      expect(error.remedy).to.not.equal('')
    })

  it('is refused in production where keys would come without TLS', async () => {
    const plain = 'http://127.0.0.1:8080'
    for (const options of [
      { issuer: plain, audience: 'a' },
      { issuer, jwksUrl: `${plain}/jwks`, audience: 'a' },
    ]) {
      const error = await failureOf(options, 'production')
      expect(error.code).to.equal('MORTAR_AUTH_ISSUER')
      expect(error.message).to.contain('https').and.contain(plain)
    }
    const app = createApp({ environment: 'production', logger: false, signals: false })
    await app.use(auth(hostedAuth({ issuer, audience: 'a' }))).ready()
    await app.close()
  })

  it('asks for nothing before the first token', async () => {
    await inHostedWorld({ keys: [await signingKey('one')] }, async ({ app, server }) => {
      await app.ready()
      expect(server.asked).to.deep.equal([])
      expect(app.routes.filter(({ origin }) => origin.includes('auth'))).to.deep.equal([])
    })
  })

  it('says in the OpenAPI document whose tokens are wanted', async () => {
    await inHostedWorld({ keys: [] }, async ({ client, server }) => {
      const { body } = await client.get('/openapi.json')
      const { accessToken } = body.components.securitySchemes
      expect(accessToken).to.include({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' })
      expect(accessToken.description).to.contain(server.issuer)
    })
  })
})

/** Claims and header of a token as each provider documents it, and one change that makes it another's. */
const PRESETS: Record<string, { options: HostedAuthOptions; claims: object; others: object[] }> = {
  clerk: {
    options: clerk({ frontendApi: 'https://clerk.example.com/', authorizedParties: ['https://example.com'] }),
    claims: { iss: 'https://clerk.example.com', aud: null, azp: 'https://example.com', sid: 'sess_1', v: 2 },
    others: [{ azp: 'https://evil.example' }, { azp: null }, { sts: 'pending' }],
  },
  auth0: {
    options: auth0({ domain: 'example.eu.auth0.com', audience: 'https://api' }),
    claims: {
      iss: 'https://example.eu.auth0.com/',
      aud: ['https://api', 'https://example.eu.auth0.com/userinfo'],
      azp: 'client',
    },
    others: [{ iss: 'https://example.eu.auth0.com' }, { aud: 'client' }],
  },
  firebase: {
    options: firebase({ projectId: 'notes-1' }),
    claims: { iss: 'https://securetoken.google.com/notes-1', aud: 'notes-1', user_id: 'ada' },
    others: [{ iss: 'https://securetoken.google.com/notes-2' }, { aud: 'notes-2' }],
  },
  supabase: {
    options: supabase({ url: 'https://abcdefgh.supabase.co' }),
    claims: { iss: 'https://abcdefgh.supabase.co/auth/v1', aud: 'authenticated', role: 'authenticated' },
    others: [{ aud: 'anon' }, { iss: 'https://abcdefgh.supabase.co' }],
  },
  'cognito, access tokens': {
    options: cognito({ region: 'eu-central-1', userPoolId: 'eu-central-1_Ab', clientId: 'page' }),
    claims: {
      iss: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Ab',
      aud: null,
      client_id: 'page',
      token_use: 'access',
    },
    others: [{ client_id: 'other' }, { token_use: 'id' }, { client_id: null, aud: 'page', token_use: 'id' }],
  },
  'cognito, ID tokens': {
    options: cognito({
      region: 'eu-central-1',
      userPoolId: 'eu-central-1_Ab',
      clientId: 'page',
      token: 'id',
    }),
    claims: {
      iss: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Ab',
      aud: 'page',
      token_use: 'id',
    },
    others: [{ token_use: 'access' }, { aud: 'other' }],
  },
  keycloak: {
    options: keycloak({ url: 'https://sso.example.com/', realm: 'my notes', authorizedParties: ['page'] }),
    claims: { iss: 'https://sso.example.com/realms/my%20notes', aud: 'account', azp: 'page', typ: 'Bearer' },
    others: [
      { typ: 'ID' },
      { typ: null },
      { azp: 'other' },
      { iss: 'https://sso.example.com/realms/master' },
    ],
  },
}

describe('a preset', () => {
  for (const [name, { options, claims, others }] of Object.entries(PRESETS))
    it(`accepts the tokens of ${name} and no others`, async () => {
      const key = await signingKey('one', options.algorithms![0])
      await inHostedWorld({ keys: [key] }, async ({ server }) => {
        expect(options.jwksUrl).to.match(/^https:\/\//)
        const hosted = { ...options, jwksUrl: `${server.issuer}/jwks`, audience: options.audience ?? [] }
        await inHostedWorld({ keys: [], hosted }, async ({ statusOf }) => {
          expect(await statusOf(await server.token(key, { ...claims }))).to.equal(200)
          for (const other of others)
            expect(
              await statusOf(await server.token(key, { ...claims, ...other })),
              JSON.stringify(other),
            ).to.equal(401)
        })
      })
    })
})
