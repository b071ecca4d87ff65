import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { QueryRunner } from 'typeorm'
import { createApp, env } from 'mortar'
import { database } from '@mortar/database'
import { basicAuth } from '@mortar/auth/basic'
import { hostedAuth } from '@mortar/auth-hosted'
import { jobs } from '@mortar/jobs'
import { mail } from '@mortar/mail'
import { checkEnvironment } from '../../src/cli/doctor/check-environment.ts'
import { explainImport } from '../../src/cli/project/explain-import.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'

describe('A mistake in the options of an application', () => {
  it('is named if a brick was not called', async () => {
    const error = await startupErrorOf(() => createApp({ logger: false, bricks: [mail as never] }))
    expect(error.message).to.equal(
      'The list of bricks has the function mail, which is not a brick.\n  Remedy: Call it: mail({ … }). Middleware goes to app.use(). [MORTAR_USE]',
    )
  })

  it('is named at the request if a brick that was not called is middleware, behind a function of its own', async () => {
    const ownMail = (options: never) => mail(options)
    const app = createApp({ logger: false, environment: 'development' }).use(ownMail as never)
    const response = await app.inject({ method: 'GET', url: '/' })
    expect(response.json().detail).to.equal(
      'mail was passed to use() as a function, and is called with ctx as middleware.\n  Remedy: Call it: app.use(mail({ … })). [MORTAR_USE]',
    )
    await app.close()
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

  it('is named with the place where the option of another framework belongs', async () => {
    for (const [name, remedy] of [
      ['port', /^Pass it to listen\(\): app\.listen\(port, host\)\.$/],
      ['cors', /^Use the middleware of @koa\/cors: app\.use\(fromKoa\(cors\(\{ … \}\)\)\)\.$/],
      ['plugins', /^Write bricks: \[ … \], or app\.use\(middleware\)\.$/],
    ] as const) {
      const error = await startupErrorOf(() => createApp(Object.fromEntries([[name, {}]])))
      expect(error.found).to.equal(`Unknown option '${name}' of createApp().`)
      expect(error.remedy).to.match(remedy)
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

  it('is named if the clock has no now, or a server of the OpenAPI document has no url', async () => {
    const clock = await startupErrorOf(() => createApp({ logger: false, clock: {} as never }))
    expect(clock.found).to.equal(
      'The option clock of createApp() is an object, not an object with the method now.',
    )
    for (const server of ['https://api.example.com', null, {}]) {
      const servers = [server] as never
      const error = await startupErrorOf(() => createApp({ logger: false, openapi: { servers } }))
      expect(error.found).to.match(
        /^The option servers of openapi in createApp\(\) is .*, not a list of objects such as /,
      )
      expect(error.remedy).to.include("{ url: 'https://api.example.com' }")
    }
  })

  it('is named if a time of database() or jobs() is not one that a timer can wait for', async () => {
    for (const name of ['poolTimeout', 'silence', 'statementTimeout', 'lockTimeout', 'busyTimeout'])
      for (const time of [-1, Number.NaN, 3_600_000, '5 parsecs']) {
        const settings = { [name]: time }
        const options = { type: 'postgres', ...settings } as const
        for (const make of [() => database(options), () => database(() => ({ type: 'postgres' }), settings)])
          expect((await startupErrorOf(make)).found).to.match(
            new RegExp(`^The option ${name} of database\\(\\) is .*, not seconds.* up to 24 days\\.$`),
          )
      }
    expect(() => database({ type: 'postgres', statementTimeout: 0, lockTimeout: 0 })).not.to.throw()
    const directory = new URL('jobs', import.meta.url)
    const patience = await startupErrorOf(() => jobs({ directory, patience: 3_600_000 }))
    expect(patience.found).to.match(/^The option patience of jobs\(\) is .* up to 24 days\.$/)
  })

  it('is named inside breachedPasswords of basicAuth(), and if the output of mail() has no write', async () => {
    const options = { secret: 'x'.repeat(40), breachedPasswords: { timout: '1s' } as never }
    const unknown = await startupErrorOf(() => basicAuth(options))
    expect(unknown.found).to.match(/^Unknown option 'timout' of breachedPasswords in basicAuth\(\)\.$/)
    expect(unknown.remedy).to.equal("Did you mean 'timeout'?")
    const output = {} as never
    const error = await startupErrorOf(() =>
      createApp({ logger: false })
        .use(mail({ from: 'hello@example.com', output }))
        .ready(),
    )
    expect(error.found).to.equal("The mail brick's `output` is an object without the method write.")
  })

  it('is named if the size of a pool is not a number of connections', async () => {
    for (const poolSize of [0, -1, Number.NaN, '10'] as number[])
      expect((await startupErrorOf(() => database({ type: 'postgres', poolSize }))).found).to.match(
        /^The option poolSize of database\(\) is .*, not a whole number from 1\.$/,
      )
  })
})

describe('A variable that is only in .env', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mortar-env-'))
  const before = process.cwd()
  after(() => {
    process.chdir(before)
    rmSync(folder, { recursive: true })
  })

  it('is named with the file and with the ways to read it', async () => {
    writeFileSync(join(folder, '.env'), 'MISTAKE_TOKEN=abc\nMISTAKE_EMPTY=\n')
    process.chdir(folder)
    const error = await startupErrorOf(() => env.string('MISTAKE_TOKEN'))
    expect(error.found).to.equal(
      'The environment variable MISTAKE_TOKEN is in .env, which this process has not read.',
    )
    expect(error.remedy).to.equal(
      'Start with `npx mortar dev` or `node --env-file=.env`, or call loadEnvFiles(import.meta.dirname) of mortar before the first read.',
    )
    for (const read of [() => env.string('MISTAKE_EMPTY'), () => env.from({}).string('MISTAKE_TOKEN')])
      expect((await startupErrorOf(read)).found).to.match(/ is not set; it must be /)
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

describe('An import of the application that fails', () => {
  it('is explained if the package is not of ES modules', () => {
    for (const message of [
      'Transform failed with 1 error:\n/app/server.ts:6:0: ERROR: Top-level await is currently not supported with the "cjs" output format',
      'Cannot use import statement outside a module',
    ])
      expect(explainImport(new Error(message))).to.include({
        code: 'MORTAR_DOCTOR_MODULE',
        remedy: 'Add "type": "module" to it.',
      })
  })

  it('is explained if a file does not exist, and left alone else', () => {
    const file = join(process.cwd(), 'app.ts')
    const error = Object.assign(new Error(`Cannot find module '${file}x' imported from ${file}`), {
      code: 'ERR_MODULE_NOT_FOUND',
    })
    expect(explainImport(error)).to.include({ found: 'app.ts imports app.tsx, which does not exist.' })
    const other = new Error('x')
    expect(explainImport(other)).to.equal(other)
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
      "The database differs from the schema module: the table notes is missing. Generate a migration from the difference and run it: npx mortar migrate generate 'what changed', npx mortar migrate run",
    ])
  })
})
