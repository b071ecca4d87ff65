import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import * as schema from '../../../examples/notes/schema.ts'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import { createDataSource, database, type ConnectionOptions } from '@mortar/database'
import { createApp, StartupError } from 'mortar'
import { createClock } from 'mortar/testing'
import { KINDS, type TestDatabase } from '../database/databases.ts'
import { Client } from './support/client.ts'
import { CHEAP } from './support/world.ts'

/** The database that test/plugins/auth/fixtures/README.md describes. */
interface Fixture {
  readonly now: number
  readonly secret: string
  readonly people: readonly {
    readonly id: string
    readonly email: string
    readonly password: string
    readonly accessToken: string
    readonly predecessor: string
    readonly refreshToken: string
    readonly resetToken: string
  }[]
}

const DIALECTS: Readonly<Record<string, string>> = {
  SQLite: 'better-sqlite3',
  PostgreSQL: 'postgres',
  MariaDB: 'mysql',
}

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`A database of the first version on ${kind}`, () => {
    const place = prepare()
    const migrations = join(import.meta.dirname, 'fixtures/migrations', DIALECTS[kind]!)

    const open = async (options: { readonly migrate: boolean }) => {
      const fixture = await load(place(), kind.toLowerCase())
      const app = createApp({ environment: 'test', logger: false, clock: createClock(fixture.now + 60_000) })
        .use(database({ ...connectionTo(place()), migrations, ...options }))
        .use(
          auth(
            basicAuth({
              secret: fixture.secret,
              issuer: 'mortar',
              cost: CHEAP,
              limits: false,
              sendResetEmail: () => {},
            }),
          ),
        )
      return { app, fixture }
    }

    it('stops a start before its migration, and names it', async () => {
      const { app } = await open({ migrate: false })
      const error: unknown = await app.ready().catch((reason: unknown) => reason)
      await app.close()
      expect(error).to.be.instanceOf(StartupError).with.property('code', 'MORTAR_AUTH_SCHEMA')
      expect((error as Error).message).to.match(/no column disabled_at.*DisabledAccounts\d+/)
    })

    it('lets its users go on after its migration, without logging in again', async () => {
      const { app, fixture } = await open({ migrate: true })
      try {
        for (const person of fixture.people) await goOn(app, person)
        const [ada] = fixture.people
        const reset = { token: ada!.resetToken, password: 'a horse for the new version' }
        const client = new Client(app)
        expect((await client.post('/auth/reset-password', reset)).status).to.equal(200)
        expect((await client.post('/auth/reset-password', reset)).status).to.equal(401)
        expect(
          (await client.post('/auth/login', { email: ada!.email, password: reset.password })).status,
        ).to.equal(200)
      } finally {
        await app.close()
      }
    })
  })

async function goOn(app: ConstructorParameters<typeof Client>[0], person: Fixture['people'][number]) {
  const client = new Client(app)
  client.accessToken = person.accessToken
  expect((await client.get('/auth/me')).body).to.include({ id: person.id, email: person.email })
  client.cookies.set('mortar_refresh', person.refreshToken)
  const refreshed = await client.post('/auth/refresh')
  expect([refreshed.status, (await client.post('/auth/refresh')).status]).to.deep.equal([200, 200])
  expect((await client.get('/auth/me')).body.id).to.equal(person.id)
  const { email, password } = person
  expect((await new Client(app).post('/auth/login', { email, password })).status).to.equal(200)
}

/** The reference application's migrations name no schema, so PostgreSQL finds the place by the search path. */
function connectionTo(place: TestDatabase): ConnectionOptions {
  const options = place.options(schema) as ConnectionOptions & { readonly schema?: string }
  if (options.schema === undefined) return options
  return { ...options, extra: { options: `-c search_path=${options.schema}` } }
}

/** Fills the place with the dump, statement by statement. */
async function load(place: TestDatabase, name: string): Promise<Fixture> {
  const file = (extension: string) =>
    readFile(join(import.meta.dirname, 'fixtures', `${name}.${extension}`), 'utf8')
  const options = place.options() as ConnectionOptions & { readonly schema?: string }
  const source: DataSource = await createDataSource(options).initialize()
  const dump = (await file('sql')).replaceAll('public.', `${options.schema}.`)
  try {
    for (const statement of dump.split(/;\n/)) if (statement.trim() !== '') await source.query(statement)
  } finally {
    await source.destroy()
  }
  return JSON.parse(await file('json')) as Fixture
}
