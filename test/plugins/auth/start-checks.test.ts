import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { auth } from '@mortar/auth'
import { basicAuth, type ConnectedPasswordProvider } from '@mortar/auth/basic'
import { documentAuth } from '@mortar/auth-document'
import { notices } from '@mortar/auth/notices'
import { recent } from '@mortar/auth/recent'
import { sessions } from '@mortar/auth/sessions'
import {
  AuthEndedSessions,
  AuthRefreshTokens,
  AuthResetTokens,
  authUsers,
  type ExtraColumns,
} from '@mortar/auth/basic/schema'
import * as schema from '@mortar/auth/basic/schema'
import { database, type Entities } from '@mortar/database'
import { createApp, type Logger } from 'mortar'
import { MissingTable } from '../../../plugins/auth/errors.ts'
import { ADA, inWorld, openWorld, SECRET, signedUp, type World } from './support/world.ts'
import { failureOf } from './support/failure-of.ts'

const STRONG = 'Zk3vQ9xL0pWm7RtY5uBn2cHd8fGj1aSe'

describe('the start of basicAuth and documentAuth', () => {
  it('starts with a DataSource that the application has connected itself', async () => {
    const entities = [authUsers(), AuthEndedSessions, AuthRefreshTokens, AuthResetTokens]
    const db = new DataSource({ type: 'better-sqlite3', database: ':memory:', entities, synchronize: true })
    await db.initialize()
    const app = createApp({ environment: 'test', logger: false }).use(auth(basicAuth({ db, secret: SECRET })))
    expect((await app.inject({ method: 'POST', url: '/auth/signup', payload: ADA })).statusCode).to.equal(201)
    await app.close()
    await db.destroy()
  })

  for (const [table, column] of [
    ['auth_users', 'disabled_at'],
    ['auth_reset_tokens', 'password_version'],
  ] as const)
    it(`names a column that an earlier version did not have: ${column} of ${table}`, async () => {
      const entities = [authUsers(), AuthEndedSessions, AuthRefreshTokens, AuthResetTokens]
      const db = new DataSource({ type: 'better-sqlite3', database: ':memory:', entities, synchronize: true })
      await db.initialize()
      await db.query(`alter table ${table} drop column ${column}`)
      const app = createApp({ environment: 'test', logger: false }).use(
        auth(basicAuth({ db, secret: SECRET })),
      )
      const error = await failureOf(() => app.ready())
      expect([error.code, error.message.includes(column)]).to.deep.equal(['MORTAR_AUTH_SCHEMA', true])
      await app.close()
      await db.destroy()
    })

  it('fails in production when the option cost makes hashes cheap', async () => {
    const app = createApp({
      environment: 'production',
      logger: false,
      appUrl: 'https://app.example.com',
    })
      .use(database({ type: 'better-sqlite3', database: ':memory:', entities: [] }))
      .use(auth(basicAuth({ secret: STRONG, cost: { memory: 64, passes: 1 }, sendResetEmail: () => {} })))
    expect((await failureOf(() => app.ready())).code).to.equal('MORTAR_AUTH_HASH_COST')
    await app.close()
  })

  const warnings: string[] = []
  const warn = (...line: unknown[]): void => void warnings.push(String(line.at(-1)))
  const logger: Logger = { debug: warn, info: warn, warn, error: warn, child: () => logger }
  const withEntities = (environment: 'production' | 'test', entities: Record<string, unknown>) =>
    createApp({ environment, logger, appUrl: 'https://app.example.com' })
      .use(database({ type: 'better-sqlite3', database: ':memory:', entities: entities as Entities }))
      .use(auth(basicAuth({ secret: STRONG, sendResetEmail: () => {} })))

  for (const [name, entity] of Object.entries({ AuthRefreshTokens, AuthResetTokens, AuthEndedSessions }))
    it(`refuses to start in production without the entity ${name}, and warns elsewhere`, async () => {
      const entities = Object.fromEntries(Object.entries(schema).filter(([key]) => key !== name))
      const says = (message: string): boolean =>
        message.includes(`no entity for ${entity.options.name}.`) && message.includes('export * from')
      const app = withEntities('production', entities)
      const error = await failureOf(() => app.ready())
      await app.close()
      expect([error.code, says(error.message)]).to.deep.equal(['MORTAR_AUTH_ENTITIES', true])
      warnings.length = 0
      const other = withEntities('test', entities)
      await other.ready()
      await other.close()
      expect(warnings.filter(says)).to.have.length(1)
    })

  it('names the module of the entity that a feature lacks', async () => {
    const features = [recent(), sessions(), notices()]
    const app = createApp({ environment: 'test', logger })
      .use(database({ type: 'better-sqlite3', database: ':memory:', entities: schema }))
      .use(auth(basicAuth({ secret: STRONG, features })))
    warnings.length = 0
    await app.ready()
    await app.close()
    const message = warnings.find((each) => each.includes('no entity for'))!
    for (const { name, tables } of features)
      if (tables !== undefined) expect(message).to.include(`'@mortar/auth/${name}/schema'`)
    expect(message).not.to.include('basic/schema')
    expect(new MissingTable('x_auth_known_browsers', undefined).message).to.include('auth/notices/schema')
  })

  it('starts in production with everything that the schema module exports', async () => {
    const app = withEntities('production', schema)
    await app.ready()
    await app.close()
  })

  const start = async (columns: ExtraColumns, publicColumns?: readonly string[]) => {
    const app = createApp({ environment: 'test', logger: false })
      .use(
        database({
          type: 'better-sqlite3',
          database: ':memory:',
          entities: [authUsers(columns), AuthEndedSessions, AuthRefreshTokens, AuthResetTokens],
        }),
      )
      .use(auth(basicAuth({ secret: SECRET, ...(publicColumns && { publicColumns }) })))
    try {
      await app.ready()
    } finally {
      await app.close()
    }
  }

  it('fails for a public column that is named like a secret, unless it is hidden or listed', async () => {
    const text = { type: String, nullable: true } as const
    for (const name of [
      'totp_secret',
      'api_token',
      'backup_hash',
      'apiKey',
      'recovery_code',
      'recovery_codes',
    ]) {
      const error = await failureOf(() => start({ role: text, [name]: text }))
      expect(error.code, name).to.equal('MORTAR_AUTH_SECRET_COLUMN')
      expect(error.message)
        .to.include(`'${name}'`)
        .and.to.include('select: false')
        .and.to.include('publicColumns')
      await start({ role: text, [name]: { ...text, select: false } })
      await start({ role: text, [name]: text }, [name])
    }
    await start({ role: text, keyboard: text, coded: text, token_count: text })
    const both = await failureOf(() => start({ a_key: text, b_key: text }, ['a_key']))
    expect(both.message).to.include("'b_key'").and.to.not.include("'a_key'")
  })

  it('applies the same rule to the fields of documentAuth', async () => {
    const of = (publicColumns: readonly string[]) => () =>
      documentAuth({ secret: SECRET, userFields: { role: 'user', country_code: null }, publicColumns })
    expect((await failureOf(of([]))).code).to.equal('MORTAR_AUTH_SECRET_COLUMN')
    expect(of(['country_code'])).not.to.throw()
  })

  it('gives each application tokens of its own by appUrl, and none where it is not set', async () => {
    const tokenOf = (world: World) =>
      (world.app.services as { authProvider: ConnectedPasswordProvider }).authProvider.issueToken!({
        id: 'ada',
        raw: {},
      })
    const statusOf = async (world: World, token: string) =>
      (await world.client().get('/private', { authorization: `Bearer ${token}` })).status
    const [one, two, none] = [
      await openWorld({ app: { appUrl: 'https://one.example/' } }),
      await openWorld({ app: { appUrl: 'https://two.example' } }),
      await openWorld(),
    ]
    const worlds = [one, two, none]
    for (const from of worlds)
      for (const to of worlds) {
        const status = await statusOf(to, await tokenOf(from))
        expect(status, `${worlds.indexOf(from)} to ${worlds.indexOf(to)}`).to.equal(from === to ? 200 : 401)
      }
    const claims = JSON.parse(
      Buffer.from((await tokenOf(one)).split('.')[1]!, 'base64url').toString(),
    ) as object
    expect(claims).to.include({ iss: 'https://one.example', aud: 'https://one.example' })
    for (const world of worlds) await world.close()
  })

  it('keeps sessions when the issuer changes: the cookie refreshes, the old access token does not count', async () => {
    await inWorld({ file: true }, async (before) => {
      const client = await signedUp(before)
      await inWorld({ file: before.file, app: { appUrl: 'http://127.0.0.1:3000' } }, async (after) => {
        const moved = after.client()
        for (const [name, value] of client.cookies) moved.cookies.set(name, value)
        moved.accessToken = client.accessToken
        expect((await moved.get('/private')).status).to.equal(401)
        expect((await moved.post('/auth/refresh')).status).to.equal(200)
        expect((await moved.get('/private')).status).to.equal(200)
      })
    })
  })
})
