import { join } from 'node:path'
import { expect } from 'chai'
import type { QueryRunner } from 'typeorm'
import { createApp, type Environment, type Logger, type StartupError } from 'mortar'
import { createDataSource, createMigrations, database, type DatabaseSettings } from '@mortar/database'
import { temporaryFolder } from './notes.ts'

class CreateTasks1000000000001 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create table tasks (id integer)')
  }
  async down(): Promise<void> {}
}
class CreateNotes1000000000002 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create table notes (id integer)')
  }
  async down(): Promise<void> {}
}
const ALL = [CreateTasks1000000000001, CreateNotes1000000000002]

describe('migrations that are pending when the application starts', () => {
  const folder = temporaryFolder()
  let number = 0
  let file = ''
  let lines: unknown[][] = []
  beforeEach(() => {
    file = join(folder(), `${number++}.db`)
    lines = []
  })

  /** Starts an application, and returns its error, if any. */
  async function start(
    environment: Environment,
    { synchronize = false, ...settings }: DatabaseSettings & { readonly synchronize?: boolean } = {},
  ): Promise<unknown> {
    const write = (...line: unknown[]) => void lines.push(line)
    const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger }
    const app = createApp({ environment, logger, logRequests: false }).use(
      database({ type: 'better-sqlite3', database: file, synchronize, migrations: ALL, ...settings }),
    )
    try {
      await app.ready()
      return undefined
    } catch (error) {
      return error
    } finally {
      await app.close()
    }
  }

  async function apply(classes: typeof ALL): Promise<void> {
    const source = await createDataSource({ type: 'better-sqlite3', database: file }).initialize()
    await createMigrations(source, { directory: classes }).run()
    await source.destroy()
  }

  it('are what the doctor finds, unless the start runs them, beside those whose files are gone', async () => {
    const found = async (migrations: typeof ALL, settings: DatabaseSettings = {}): Promise<string[]> => {
      const brick = database({ type: 'better-sqlite3', database: file }, { migrations, ...settings })
      const { services } = await createApp().use(brick).inspect()
      return (await brick.doctor!(services as never)).map((finding) => finding.found)
    }
    const [first, second] = ['CreateTasks1000000000001', 'CreateNotes1000000000002']
    await apply([])
    const pending = `Migrations were not run on this database: ${first}, ${second}.`
    expect(await found(ALL)).to.deep.equal([pending])
    expect(await found(ALL, { migrate: true })).to.deep.equal([])
    await apply(ALL.slice(0, 1))
    expect(await found(ALL)).to.deep.equal([`Migrations were not run on this database: ${second}.`])
    await apply(ALL)
    const gone = `Migrations were run on this database, but their files are missing: ${second}.`
    expect(await found(ALL.slice(0, 1))).to.deep.equal([gone])
  })

  it('stop it in production, with their names and the command', async () => {
    const error = (await start('production')) as StartupError
    expect(error).to.include({ code: 'MORTAR_MIGRATION_PENDING' })
    expect(error.message)
      .to.include('These 2 migrations')
      .and.include('CreateTasks1000000000001, CreateNotes')
    expect(error.remedy).to.include('mortar migrate run')
    await apply(ALL.slice(0, 1))
    expect(((await start('production')) as Error).message).to.include('run on the database: CreateNotes')
  })

  it('do not stop it if the option allows them, or runs them', async () => {
    expect(await start('production', { pendingMigrations: 'warn' })).to.equal(undefined)
    expect(JSON.stringify(lines)).to.include('CreateTasks1000000000001')
    expect(await start('production', { pendingMigrations: 'ignore' })).to.equal(undefined)
    expect(await start('production', { migrate: true })).to.equal(undefined)
    expect(await start('production')).to.equal(undefined)
  })

  it('do not matter where the start makes the tables from the entities', async () => {
    for (const environment of ['production', 'development'] as const)
      expect(await start(environment, { synchronize: true, pendingMigrations: 'stop' })).to.equal(undefined)
    expect(JSON.stringify(lines)).to.not.include('CreateTasks1000000000001')
  })

  it('stop it for a misspelt value of the option', async () => {
    expect(await start('production', { pendingMigrations: 'warm' as 'warn' })).to.include({
      code: 'MORTAR_MIGRATION_PENDING',
    })
  })

  it('are not known without their folder, which is logged and stops nothing', async () => {
    const migrations = join(folder(), 'missing')
    expect(await start('production', { migrations })).to.equal(undefined)
    expect(JSON.stringify(lines)).to.include(`The migrations folder '${migrations}' cannot be read.`)
  })

  it('do not matter if they belong to newer code', async () => {
    class Newer1000000000003 extends CreateNotes1000000000002 {
      override async up(): Promise<void> {}
    }
    await apply([...ALL, Newer1000000000003])
    expect(await start('production')).to.equal(undefined)
  })

  it('are logged in development and ignored in a test', async () => {
    expect(await start('development')).to.equal(undefined)
    expect(JSON.stringify(lines)).to.include('CreateTasks1000000000001')
    lines = []
    expect(await start('test')).to.equal(undefined)
    expect(JSON.stringify(lines)).to.not.include('CreateTasks1000000000001')
  })
})
