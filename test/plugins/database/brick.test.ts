import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { DataSource, type QueryRunner } from 'typeorm'
import {
  type ConnectionOptions,
  createDataSource,
  database,
  type MigrationClass,
  type Migrations,
} from '@mortar/database'
import { createApp, createRouter, type Logger, routerFor, type StartupError } from 'mortar'
import { KINDS_AND_DRIVERS } from './databases.ts'
import { insert, Notes, temporaryFolder, texts } from './notes.ts'

const memory = {
  type: 'better-sqlite3',
  database: ':memory:',
  entities: [Notes],
  synchronize: true,
} satisfies ConnectionOptions

/** A logger that keeps its lines. */
function recorder(): Logger & { readonly lines: unknown[][] } {
  const lines: unknown[][] = []
  const write = (...line: unknown[]) => void lines.push(line)
  const logger = { lines, debug: write, info: write, warn: write, error: write, child: () => logger }
  return logger
}

const newApp = (logger: Logger = recorder()) => createApp({ environment: 'test', logger })

class CreateTasks1000000000001 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create table tasks (id integer)')
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table tasks')
  }
}

class Fails1000000000002 {
  async up(): Promise<void> {
    throw new Error('no')
  }
  async down(): Promise<void> {}
}

describe('the database brick', () => {
  const folder = temporaryFolder()
  const service = <T>(app: { services: unknown }, name: string) =>
    (app.services as Record<string, T>)[name] as T

  it('provides the connection as ctx.db, and closes it at the stop', async () => {
    const app = newApp().use(database(memory))
    const router = routerFor<typeof app>()
    router.get('/count', async (ctx) => ({ count: await ctx.db.getRepository(Notes).count() }))
    app.use(router)
    const response = await app.inject({ method: 'GET', url: '/count' })
    expect(response.json()).to.eql({ count: 0 })
    const db = service<DataSource>(app, 'db')
    await app.close()
    expect(db.isInitialized).to.equal(false)
  })

  it('has a health check, which reports a closed connection', async () => {
    const app = newApp().use(database(memory))
    await app.ready()
    await service<DataSource>(app, 'db').destroy()
    const ready = await app.inject({ method: 'GET', url: '/readyz' })
    expect([ready.statusCode, ready.json().checks]).to.eql([200, { db: 'failed' }])
    await app.close()
  })

  it('warns of a time limit that may be meant in milliseconds, as those of TypeORM are', async () => {
    const warnings: unknown[] = []
    const logger = {
      debug() {},
      info() {},
      error() {},
      warn: (...line: unknown[]) => warnings.push(line.at(-1)),
    }
    const settings = { poolTimeout: 10_000, silence: '3h', lockTimeout: 60 }
    for (const brick of [
      database({ ...memory, ...settings }),
      database(createDataSource(memory), settings),
    ]) {
      const app = createApp({ environment: 'test', logger: { ...logger, child: () => logger } as never }).use(
        brick,
      )
      await app.ready()
      await app.close()
    }
    const warning =
      "poolTimeout is 10000 seconds, which is more than an hour. For milliseconds write '10000ms'. " +
      "To keep the seconds without this warning, write '10000s'."
    expect(warnings).to.deep.equal([warning, warning])
  })

  it('shares a DataSource that was created before the start', async () => {
    const dataSource = createDataSource(memory)
    const app = newApp().use(database(dataSource))
    await app.ready()
    expect(service(app, 'db')).to.equal(dataSource)
    expect(await texts(dataSource)).to.eql([])
    await app.close()
    expect(dataSource.isInitialized).to.equal(false)
  })

  it('does not close a DataSource that was already open', async () => {
    const dataSource = await createDataSource(memory).initialize()
    const app = newApp().use(database(dataSource))
    await app.ready()
    await app.close()
    expect(dataSource.isInitialized).to.equal(true)
    await dataSource.destroy()
  })

  it('starts again after a stop, with the same DataSource', async () => {
    const dataSource = createDataSource(memory)
    for (let start = 1; start <= 2; start++) {
      const app = newApp().use(database(dataSource))
      await app.ready()
      await insert(dataSource.manager, 'note')
      expect(await texts(dataSource)).to.eql(['note'])
      await app.close()
    }
  })

  it('gives each application its own connection where one brick serves two', async () => {
    const brick = database(memory)
    const apps = [newApp().use(brick), newApp().use(brick)]
    await Promise.all(apps.map((app) => app.ready()))
    const [first, second] = apps.map((app) => service<DataSource>(app, 'db'))
    await insert(first!.manager, 'note')
    expect(await texts(second!)).to.eql([])
    await apps[0]!.close()
    expect([first!.isInitialized, second!.isInitialized]).to.eql([false, true])
    await apps[1]!.close()
  })

  it('reads its options only when the application starts', async () => {
    let asked = 0
    const app = newApp().use(
      database(() => {
        asked++
        return memory
      }),
    )
    expect(asked).to.equal(0)
    await app.ready()
    expect(asked).to.equal(1)
    await app.close()
  })

  it('puts the gate on a DataSource that was made without it', async () => {
    const dataSource = new DataSource(memory)
    const app = newApp().use(database(dataSource))
    await app.ready()
    const rolledBack = dataSource.transaction(async (manager) => {
      await insert(manager, 'a')
      await nextTurn()
      throw new Error('no')
    })
    await Promise.allSettled([rolledBack, insert(dataSource.manager, 'b')])
    expect(await texts(dataSource)).to.eql(['b'])
    await app.close()
  })

  it('keeps the writes of one request when a concurrent one rolls back', async () => {
    const dataSource = createDataSource(memory)
    const app = newApp().use(database(dataSource))
    const router = createRouter()
    router.post('/fails', async () =>
      dataSource.transaction(async (manager) => {
        await insert(manager, 'undone')
        await nextTurn()
        throw new Error('no')
      }),
    )
    router.post('/writes', async (ctx) => {
      await insert(dataSource.manager, 'kept')
      ctx.status = 201
    })
    app.use(router)
    const { url } = await app.listen(0, '127.0.0.1')
    const answers = await Promise.all(
      ['fails', 'writes'].map((path) => fetch(`${url}/${path}`, { method: 'POST' })),
    )
    expect(answers.map(({ status }) => status)).to.eql([500, 201])
    expect(await texts(dataSource)).to.eql(['kept'])
    await app.close()
  })

  it('runs no migration by default', async () => {
    const app = newApp().use(database({ ...memory, migrations: [CreateTasks1000000000001] }))
    await app.ready()
    expect(await service<Migrations>(app, 'migrations').status()).to.eql([
      { name: 'CreateTasks1000000000001', state: 'pending' },
    ])
    await app.close()
  })

  it('runs pending migrations at start if configured, and logs their names', async () => {
    const logger = recorder()
    const app = newApp(logger).use(
      database(memory, { migrations: [CreateTasks1000000000001], migrate: true }),
    )
    await app.ready()
    expect(await service<DataSource>(app, 'db').query('select * from tasks')).to.eql([])
    expect(JSON.stringify(logger.lines)).to.include('CreateTasks1000000000001')
    await app.close()
  })

  it('uses the migration classes of a DataSource that has some', async () => {
    const dataSource = new DataSource({ ...memory, migrations: [CreateTasks1000000000001] })
    const app = newApp().use(database(dataSource, { migrate: true }))
    await app.ready()
    expect(await dataSource.query('select * from tasks')).to.eql([])
    await app.close()
  })

  it('closes the connection when a migration fails the start', async () => {
    const dataSource = createDataSource(memory)
    const migrations: MigrationClass[] = [Fails1000000000002]
    const app = newApp().use(database(dataSource, { migrations, migrate: true }))
    expect((await failure(app.ready())).message).to.include('Fails1000000000002')
    expect(dataSource.isInitialized).to.equal(false)
    await app.close()
  })

  it('reports a missing migrations folder only when migrations run', async () => {
    const app = newApp().use(database(memory))
    await app.ready()
    expect((await failure(service<Migrations>(app, 'migrations').run())).code).to.equal(
      'MORTAR_MIGRATIONS_FOLDER',
    )
    await app.close()
  })

  it('fails the start with a remedy when the database cannot be opened', async () => {
    const app = newApp().use(database({ type: 'better-sqlite3', database: folder() }))
    const error = await failure(app.ready())
    expect([error.code, error.brick]).to.eql(['MORTAR_DATABASE_UNREACHABLE', 'database'])
    await app.close()
  })

  it('logs a transaction that keeps others waiting', async () => {
    const logger = recorder()
    const dataSource = createDataSource(memory)
    const app = newApp(logger).use(database(dataSource, { transactionWarning: '1ms' }))
    await app.ready()
    const runner = dataSource.createQueryRunner()
    await runner.startTransaction()
    const refused = await dataSource.query('select 1').catch((error: Error) => error.message)
    expect(refused).to.include('has waited')
    expect(JSON.stringify(logger.lines)).to.include('A transaction has kept 1 other caller')
    await runner.rollbackTransaction()
    await runner.release()
    await app.close()
  })

  it('opens a file in a folder that does not exist yet', async () => {
    const path = join(folder(), 'data', 'app.db')
    const app = newApp().use(database({ ...memory, database: path }))
    await app.ready()
    await app.close()
    expect(existsSync(path)).to.equal(true)
  })
})

for (const [kind, prepare] of Object.entries(KINDS_AND_DRIVERS))
  describe(`the database brick on ${kind}`, () => {
    const place = prepare()

    it('migrates, serves and leaves nothing open', async () => {
      const options = place().options([Notes])
      const app = newApp().use(database(options, { migrations: [Creates1000000000001], migrate: true }))
      const router = routerFor<typeof app>()
      router.get('/notes', (ctx) => ctx.db.getRepository(Notes).find())
      app.use(router)
      const response = await app.inject({ method: 'GET', url: '/notes' })
      expect([response.statusCode, response.json()]).to.eql([200, []])
      await app.close()
    })
  })

/** The table of notes, where the connection keeps its tables. */
class Creates1000000000001 {
  async up(runner: QueryRunner): Promise<void> {
    const { schema } = runner.manager.dataSource.options as { schema?: string }
    await runner.query(
      `create table ${schema ? `${schema}.` : ''}notes (id varchar(99) primary key, text varchar(99) unique)`,
    )
  }
  async down(): Promise<void> {}
}

function failure(promise: Promise<unknown>): Promise<StartupError> {
  return promise.then(
    () => expect.fail('nothing was thrown'),
    (error: StartupError) => error,
  )
}
