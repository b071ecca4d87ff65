import { expect } from 'chai'
import { recent } from '@mortar/auth/recent'
import { github, oidc, social, type SocialOptions } from '@mortar/auth/social'
import { totp } from '@mortar/auth/totp'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import type { AccountOperations } from '../../../../../plugins/auth/flows/accounts.ts'
import type { Client } from '../../support/client.ts'
import type { World, WorldOptions } from '../../support/world.ts'
import { startIssuer, type Issuer, type Mischief, type Person } from './issuer.ts'

export const CLIENT = { clientId: 'notes', clientSecret: 'the secret of the client' }
export const GRACE: Person = {
  sub: '1234',
  email: 'Grace@Example.com',
  email_verified: true,
  name: 'Grace Hopper',
}

/** Providers, all at one issuer of this process, and what a browser does with them. */
export interface SocialScene {
  readonly issuer: Issuer
  withSocial(options?: Partial<SocialOptions>, more?: { readonly totp: boolean }): WorldOptions
  /** Visits the provider and comes back. */
  visit(client: Client, person?: Person, mischief?: Mischief, begin?: string): ReturnType<Client['get']>
}

/** The scene of the suite that calls it. */
export function socialScene(): SocialScene {
  let started: Issuer | undefined
  const scene: SocialScene = {
    get issuer() {
      return started!
    },
    withSocial: (options = {}, more = { totp: false }) => ({
      withFeatures: true,
      auth: {
        appUrl: 'http://localhost:3000',
        features: [
          recent(),
          ...(more.totp ? [totp()] : []),
          social({ providers: providersAt(scene.issuer.url), errorPath: '/sign-in?from=social', ...options }),
        ],
      },
    }),
    async visit(client, person = GRACE, mischief = {}, begin = '/auth/social/company') {
      const begun = await client.get(begin)
      expect(begun.status, begun.text).to.equal(302)
      return client.get(await scene.issuer.signIn(String(begun.headers['location']), person, mischief))
    },
  }
  before(async () => void (started = await startIssuer()))
  beforeEach(() => void (scene.issuer.isDown = false))
  after(() => scene.issuer.close())
  return scene
}

const providersAt = (issuer: string) => [
  oidc({ name: 'company', issuer, trustEmail: true, ...CLIENT }),
  oidc({ name: 'strict', issuer, maxAge: 60, acr: 'high', ...CLIENT }),
  oidc({ name: 'guests', issuer, ...CLIENT }),
  github({ url: issuer, ...CLIENT }),
]

export const providerOf = ({ app }: World) =>
  (app.services as unknown as { authProvider: ConnectedPasswordProvider & { accounts: AccountOperations } })
    .authProvider
export const targetOf = ({
  status,
  headers,
}: {
  status: number
  headers: Readonly<Record<string, unknown>>
}) => `${status} ${String(headers['location'])}`
export const refused = (code: string) => `302 /sign-in?from=social&error=${code}`
export const refresh = async (client: Client) => (await client.post('/auth/refresh')).status
export const meOf = async (client: Client) => {
  expect(await refresh(client)).to.equal(200)
  return (await client.get('/auth/me')).body as Record<string, unknown> & { id: string; raw: object }
}
export const claimsOf = (client: Client) =>
  JSON.parse(Buffer.from(client.accessToken!.split('.')[1]!, 'base64url').toString()) as Record<
    string,
    unknown
  >
