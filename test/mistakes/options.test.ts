import { tmpdir } from 'node:os'
import { expect } from 'chai'
import type { QueryRunner } from 'typeorm'
import { createApp } from 'mortar'
import { database } from '@mortar/database'
import { basicAuth } from '@mortar/auth/basic'
import { hostedAuth } from '@mortar/auth-hosted'
import { mail } from '@mortar/mail'
import { checkEnvironment } from '../../src/cli/doctor/check-environment.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'

describe('A mistake in the options of an application', () => {
  it('is named if a brick was not called', async () => {
    const error = await startupErrorOf(() => createApp({ logger: false, bricks: [mail as never] }))
    expect(error.message).to.equal(
      'The list of bricks has the function mail, which is not a brick.\n  Remedy: Call it: mail({ … }). Middleware goes to app.use(). [MORTAR_USE]',
    )
  })

  it('is named if a provider is registered in place of the brick that it belongs to', async () => {
    const cases = [
      ['basic', basicAuth({ secret: 'x'.repeat(40) })],
      ['hosted', hostedAuth({ issuer: 'https://users.example.com/', audience: 'app' })],
    ] as const
    for (const [name, provider] of cases)
      for (const register of [
        () => createApp({ logger: false, bricks: [provider as never] }),
        () => createApp({ logger: false }).use(provider as never),
      ]) {
        const error = await startupErrorOf(() => register().ready())
        expect(error.message).to.equal(
          `'${name}' is a provider of authentication, not a brick.\n  Remedy: Pass it to the function \`auth\`, and register the result. [MORTAR_BRICK_SHAPE]`,
        )
      }
  })

  it('is named if a brick is given no options or a string', async () => {
    const cases = [
      [() => mail(undefined as never), 'The options of mail() are undefined, not an object.'],
      [() => mail('smtp://localhost' as never), 'The options of mail() are a string, not an object.'],
      [() => database('sqlite::memory:' as never), 'The options of database() are a string, not an object.'],
    ] as const
    for (const [make, found] of cases) {
      const error = await startupErrorOf(make)
      expect(error.found).to.equal(found)
    }
    expect((await startupErrorOf(cases[2][0])).remedy).to.equal(
      'Write database(fromUrl(url)), or pass an object of options.',
    )
  })

  it('is named if the logger has no methods', async () => {
    const error = await startupErrorOf(() => createApp({ logger: { info() {} } as never }))
    expect(error.found).to.equal(
      'The option logger is an object without the methods debug, warn, error, child.',
    )
    expect(error.remedy).to.include('pino()')
  })
})

describe('A weak secret', () => {
  it('is an error for the secrets of the application, and a warning for a secret of another service', () => {
    const found = checkEnvironment(tmpdir(), { AUTH_SECRET: 'short', WEBHOOK_SECRET: 'whsec_short' })
    expect(found.map(({ level, found: text }) => `${level}: ${text}`)).to.deep.equal([
      'error: AUTH_SECRET is shorter than 32 bytes, so others could sign sessions.',
      'warning: WEBHOOK_SECRET is shorter than 32 bytes, so others could guess it.',
    ])
  })
})

class CreateNotes1000000000001 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create table notes (id integer)')
  }
  async down(): Promise<void> {}
}

describe('A database that differs from its entities', () => {
  it('is not a finding of the doctor where the start runs the pending migrations', async () => {
    const migrations = [CreateNotes1000000000001]
    for (const migrate of [true, false]) {
      const brick = database({ type: 'better-sqlite3', database: ':memory:', migrations, migrate })
      const app = createApp({ logger: false, bricks: [brick] })
      const { services } = await app.inspect()
      const found = await brick.doctor!(services as never)
      expect(found.map(({ code }) => code)).to.deep.equal(migrate ? [] : ['MORTAR_DOCTOR_MIGRATIONS'])
    }
  })

  it('is a warning at a start in development only', async () => {
    const { Notes } = await import('../plugins/database/notes.ts')
    const lines: string[] = []
    const logger = {
      debug() {},
      info() {},
      error() {},
      warn: (_: unknown, text: string) => lines.push(text),
      child: () => logger,
    } as never
    for (const environment of ['development', 'test', 'production'] as const) {
      const app = createApp({ environment, logger, signals: false }).use(
        database({
          type: 'better-sqlite3',
          database: ':memory:',
          entities: [Notes],
          pendingMigrations: 'ignore',
        }),
      )
      await app.ready()
      await app.close()
    }
    expect(lines).to.deep.equal([
      "The database differs from the schema module: the table notes is missing. Generate a migration from the difference and run it: mortar migrate generate 'what changed', mortar migrate run",
    ])
  })
})
