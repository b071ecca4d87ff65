import { DataSource } from 'typeorm'
import { createApp } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import { AuthEndedSessions, AuthRefreshTokens, AuthResetTokens, AuthUsers } from '@mortar/auth/basic/schema'
import { hostedAuth } from '@mortar/auth-hosted'
import { libraryAuth } from '@mortar/auth-library'
import { database } from '@mortar/database'
import { createClient } from 'mortar/testing'
import { providerSuite, type ProviderFixture } from '@mortar/auth/testing'
import { AUDIENCE, signingKey, startKeyServer, type KeyServer } from './hosted/support/key-server.ts'
import { openBetterAuth, signUpThere } from './support/better-auth.ts'
import { CHEAP, SECRET } from './support/world.ts'

const runner = { describe, it }
const quiet = { environment: 'test', logger: false, shutdownTimeout: '1s' } as const
const never = (): Promise<never> => new Promise<never>(() => {})
const broken = async (): Promise<never> => {
  throw new Error('It is down.')
}

providerSuite(runner, 'e-mail and password, relational', () => basicFixture())
providerSuite(runner, 'e-mail and password, relational, asking the database each time', () => ({
  ...basicFixture(true),
}))
providerSuite(runner, 'hosted', hostedFixture)
providerSuite(runner, 'library', libraryFixture)

let people = 0

function basicFixture(freshSession = false): ProviderFixture {
  const source = new DataSource({
    type: 'better-sqlite3',
    database: ':memory:',
    entities: [AuthUsers, AuthEndedSessions, AuthRefreshTokens, AuthResetTokens],
    synchronize: true,
  })
  const provider = (secret: string) =>
    basicAuth({ db: source, secret, cost: CHEAP, limits: false, freshSession, sendResetEmail: () => {} })
  return {
    abilities: { routes: true, signOut: true, issueToken: true },
    signInEvent: 'auth.signup.succeeded',
    createApp: (policies) =>
      createApp(quiet)
        .use(database(source))
        .use(auth(provider(SECRET), { policies, timeout: '1s' })),
    async signIn(app) {
      const { body } = await createClient(app).post('/auth/signup', {
        name: 'Person',
        email: `person${(people += 1)}@example.com`,
        password: 'correct horse battery',
      })
      return { userId: body.user.id, token: body.accessToken }
    },
    async invalid({ token, userId }) {
      const foreign = createApp(quiet).use(auth(provider(`${SECRET} of somebody else`)))
      await foreign.ready()
      const theirs = await foreign.services.authProvider.issueToken!({ id: userId, raw: {} })
      await foreign.close()
      return [...tampered(token), theirs]
    },
    ...(freshSession && {
      disturb(_app, how) {
        const query = how === 'hangs' ? never : broken
        source.createQueryRunner = () => ({ query, release: async () => {} }) as never
      },
    }),
  }
}

function hostedFixture(): ProviderFixture {
  let server: KeyServer
  let elsewhere: KeyServer
  return {
    abilities: { routes: false, signOut: false, issueToken: false },
    async createApp(policies) {
      const keys = [await signingKey('one')]
      ;[server, elsewhere] = [await startKeyServer(keys, Date.now), await startKeyServer(keys, Date.now)]
      const provider = hostedAuth({
        issuer: server.issuer,
        audience: AUDIENCE,
        cookie: '__session',
        timeout: '1s',
      })
      return createApp(quiet).use(auth(provider, { policies }))
    },
    async signIn() {
      const userId = `user-${(people += 1)}`
      return { userId, token: await server.token(await signingKey('one'), { sub: userId }) }
    },
    async invalid({ token }) {
      const [key, other] = [await signingKey('one'), await signingKey('another')]
      return [
        ...tampered(token),
        await server.token(key, { exp: Math.floor(Date.now() / 1000) - 60 }),
        await server.token(key, { aud: 'https://other.example.com' }),
        await server.token(other),
        await server.token(other, {}, { kid: 'one' }),
        await elsewhere.token(key),
      ]
    },
    disturb(_app, how) {
      server.answer = (_, response) => void (how === 'hangs' || response.destroy())
    },
    async close() {
      await server.close()
      await elsewhere.close()
    },
  }
}

function libraryFixture(): ProviderFixture {
  const { instance, database: ours, prepare } = openBetterAuth()
  const foreign = openBetterAuth({ secret: 'Qw2Er4Ty6Ui8Op1As3Df5Gh7Jk9Lz0Xc' })
  return {
    abilities: { routes: true, signOut: true, issueToken: false },
    createApp: (policies) =>
      createApp(quiet).use(auth(libraryAuth(instance, { prepare }), { policies, timeout: '1s' })),
    signIn: (app) => signUpThere(app),
    async invalid({ token }) {
      const other = createApp(quiet).use(auth(libraryAuth(foreign.instance, { prepare: foreign.prepare })))
      await other.ready()
      const theirs = await signUpThere(other)
      await other.close()
      const [id] = token.split('.')
      return [...tampered(token), theirs.token, id!, `${id}.`]
    },
    disturb(_app, how) {
      if (how === 'throws') ours.exec('drop table session')
      else instance.api.getSession = never as never
    },
    close() {
      ours.close()
      foreign.database.close()
    },
  }
}

function tampered(token: string): string[] {
  const dot = token.lastIndexOf('.')
  const other = token[dot + 1] === 'A' ? 'B' : 'A'
  return [token.slice(0, dot), token.slice(0, dot + 1) + other + token.slice(dot + 2), `A${token}`]
}
