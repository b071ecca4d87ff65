import { DataSource } from 'typeorm'
import { auth } from '@mortar/auth'
import { documentAuth } from '@mortar/auth-document'
import { database } from '@mortar/database'
import { createApp, type App, type Policy } from 'mortar'
import { createClient } from 'mortar/testing'
import { providerSuite, type SignedInUser } from '@mortar/auth/testing'
import { newDatabaseName, onEachMongo } from '../../../support/mongo.ts'
import { ADA, CHEAP, SECRET } from '../support/world.ts'

let people = 0

async function signIn(app: App): Promise<SignedInUser> {
  const email = `person${(people += 1)}@example.com`
  const { body } = await createClient(app).post('/auth/signup', { ...ADA, email })
  return { userId: body.user.id, token: body.accessToken }
}

/** Another signature, and the algorithm `none`. */
function forgeries({ token }: SignedInUser): string[] {
  const [header, payload, signature] = token.split('.') as [string, string, string]
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url')
  const reversed = [...signature].toReversed().join('')
  return [`${header}.${payload}.${reversed}`, `${header}.${payload}.`, `${none}.${payload}.`]
}

onEachMongo('the auth provider documentAuth', (server) => {
  const opened: DataSource[] = []
  afterEach(async () => {
    for (const source of opened.splice(0)) {
      await source.dropDatabase()
      await source.destroy()
    }
  })

  providerSuite({ describe, it }, 'a DataSource of TypeORM', () => ({
    async createApp(policies: Readonly<Record<string, Policy>>) {
      const source = new DataSource({ type: 'mongodb', url: server().url, database: newDatabaseName() })
      opened.push(await source.initialize())
      return createApp({ environment: 'test', logger: false })
        .use(database(source))
        .use(auth(documentAuth({ secret: SECRET, cost: CHEAP }), { policies }))
    },
    abilities: { routes: true, signOut: true, issueToken: true },
    signInEvent: 'auth.signup.succeeded',
    signIn,
    invalid: forgeries,
  }))
})
