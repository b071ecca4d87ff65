import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { type DataSource, EntitySchema } from 'typeorm'
import { type ConnectionOptions, createDataSource, openDataSource } from '@mortar/database'
import { describeOpening } from '../../../plugins/database/failures/connection-failure.ts'
import { StartupError } from 'mortar'
import { KINDS_AND_DRIVERS } from './databases.ts'
import { Notes, temporaryFolder } from './notes.ts'
import { freePort } from '../../support/free-port.ts'

const Tags = new EntitySchema({ name: 'tags', columns: { id: { type: Number, primary: true } } })

describe('createDataSource', () => {
  const folder = temporaryFolder()
  const names = (source: DataSource) => source.entityMetadatas.map(({ name }) => name).toSorted()

  async function use<T>(
    options: ConnectionOptions,
    work: (source: DataSource) => T | Promise<T>,
  ): Promise<T> {
    const source = await createDataSource(options).initialize()
    try {
      return await work(source)
    } finally {
      await source.destroy()
    }
  }

  it('makes a connection that is not open yet', () => {
    expect(createDataSource({ type: 'better-sqlite3', database: ':memory:' }).isInitialized).to.equal(false)
  })

  // Their drivers have other columns, or none.
  for (const type of ['mongodb', 'mssql', 'oracle', 'cockroachdb', 'sap'] as const)
    it(`makes one of the type ${type}, which the brick does not know`, () => {
      const source = createDataSource({ type, database: 'app', driver: {} } as ConnectionOptions)
      expect(source.options.type).to.equal(type)
    })

  const USER = class User {
    id = 1
  }
  const OTHER_NOTES = new EntitySchema({ name: 'notes', columns: { id: { type: Number, primary: true } } })

  for (const [what, entities, message] of [
    ['a class without decorators', [USER], /has User, which has no decorator/],
    ['an empty object', {}, /an object without an entity\./],
    ['an object in a list', [Notes, {}], /an object without an entity\./],
    ['an object of other exports', { notes: 1, tags: {} }, /without an entity; it has notes, tags\./],
    ['null in a list', [null], /has null, which is not an entity/],
    ['two entities of one name', { Notes, Others: OTHER_NOTES }, /two EntitySchemas with the name 'notes'/],
  ] as const)
    it(`refuses ${what} as entities`, () => {
      const make = () =>
        createDataSource({ type: 'better-sqlite3', database: ':memory:', entities: entities as never })
      expect(make).to.throw(StartupError, message).with.property('code', 'MORTAR_DATABASE_ENTITIES')
    })

  it('accepts a module without exports, as that of a new application, and an empty list', async () => {
    const source: string = 'data:text/javascript,export {}'
    const empty = (await import(source)) as object
    for (const entities of [empty, []])
      expect(
        createDataSource({ type: 'better-sqlite3', database: ':memory:', entities }).options.entities,
      ).to.eql([])
  })

  it('makes the folder of a SQLite file, with a write-ahead log, foreign keys and no wait that blocks the process', async () => {
    const database = join(folder(), 'deep', 'er', 'app.db')
    await use({ type: 'better-sqlite3', database }, async (source) => {
      expect(existsSync(database)).to.equal(true)
      expect(await source.query('pragma journal_mode')).to.eql([{ journal_mode: 'wal' }])
      expect(await source.query('pragma foreign_keys')).to.eql([{ foreign_keys: 1 }])
      expect(await source.query('pragma busy_timeout')).to.eql([{ timeout: 0 }])
    })
  })

  it('accepts another value for each default', async () => {
    const database = join(folder(), 'plain.db')
    await use({ type: 'better-sqlite3', database, enableWAL: false, timeout: 7 }, async (source) => {
      expect(await source.query('pragma journal_mode')).to.eql([{ journal_mode: 'delete' }])
      expect(await source.query('pragma busy_timeout')).to.eql([{ timeout: 7 }])
    })
  })

  it('reads a read-only SQLite file', async () => {
    const database = join(folder(), 'readonly.db')
    await use({ type: 'better-sqlite3', database, enableWAL: false }, (source) =>
      source.query('create table t (a)'),
    )
    await use({ type: 'better-sqlite3', database, readonly: true }, async (source) => {
      expect(await source.transaction((manager) => manager.query('select * from t'))).to.eql([])
    })
  })

  const MODULE = { Notes, Tags, TABLES: ['notes'], helper: () => 1, default: undefined, again: Notes }
  const GIVEN = {
    'a module': MODULE,
    'an array': [Notes, Tags],
    'an array with a module': [MODULE],
    mixed: [Tags, { Notes }],
  }
  for (const [what, entities] of Object.entries(GIVEN))
    it(`uses the entities of ${what}, each of them once`, async () => {
      await use({ type: 'better-sqlite3', database: ':memory:', entities }, (source) => {
        expect(names(source)).to.eql(['notes', 'tags'])
      })
    })

  it('accepts a single entity', async () => {
    await use({ type: 'better-sqlite3', database: ':memory:', entities: Notes }, (source) => {
      expect(names(source)).to.eql(['notes'])
    })
  })

  it('rejects an unknown type and names the type to write', () => {
    const make = () => createDataSource({ type: 'sqlite', database: 'a.db' } as unknown as ConnectionOptions)
    expect(make).to.throw(StartupError, /"sqlite".*\n.*Write type: 'better-sqlite3'/)
  })

  it('refuses options without a type, and names the types', () => {
    const make = () => createDataSource({ url: 'postgres://localhost/a' } as unknown as ConnectionOptions)
    expect(make).to.throw(StartupError, /name no type.*\n.*type: 'postgres'.*fromUrl/)
  })

  it('refuses a driver that is not installed, and names the package', () => {
    expect(() => createDataSource({ type: 'oracle' })).to.throw(StartupError, /npm install oracledb/)
  })

  it('refuses a SQLite connection without a file', () => {
    expect(() => createDataSource({ type: 'better-sqlite3', database: '' })).to.throw(
      StartupError,
      /names no database/,
    )
  })
})

describe('openDataSource', () => {
  const folder = temporaryFolder()

  const failure = (options: ConnectionOptions): Promise<StartupError> =>
    openDataSource(createDataSource(options)).then(
      () => expect.fail('it opened'),
      (error: StartupError) => error,
    )

  it('returns whether it connected, so that only the opener closes', async () => {
    const source = createDataSource({ type: 'better-sqlite3', database: ':memory:' })
    expect([await openDataSource(source), await openDataSource(source)]).to.eql([true, false])
    await source.destroy()
  })

  it('names the SQLite path that cannot be opened', async () => {
    const path = join(folder(), 'a-folder')
    mkdirSync(path)
    const error = await failure({ type: 'better-sqlite3', database: path })
    expect(error.code).to.equal('MORTAR_DATABASE_UNREACHABLE')
    expect(error.brick).to.equal('database')
    expect(error.message).to.include(path)
  })

  it('names a file that is not a SQLite database', async () => {
    const path = join(folder(), 'text.db')
    writeFileSync(
      path,
      'This is text, and long enough to be taken for a damaged header of SQLite.'.repeat(20),
    )
    const error = await failure({ type: 'better-sqlite3', database: path })
    expect(error.message).to.include('file is not a database')
  })

  for (const type of ['postgres', 'mysql'] as const)
    it(`names host and port of a ${type} server that does not respond, and nothing secret`, async () => {
      const port = await freePort()
      const options = { type, host: '127.0.0.1', port, username: 'ann', password: 'hunter2', database: 'app' }
      const error = await failure(options)
      expect(error.code).to.equal('MORTAR_DATABASE_UNREACHABLE')
      expect(error.message).to.include(`${type} at 127.0.0.1:${port}, database app`)
      expect(inspect(error)).not.to.include('hunter2')
    })

  it('shows no password of a URL', async () => {
    const error = await failure({
      type: 'postgres',
      url: `postgres://ann:hunter2@127.0.0.1:${await freePort()}/app`,
    })
    expect(error.message).to.match(/postgres at 127\.0\.0\.1:\d+/)
    expect(inspect(error)).not.to.include('hunter2')
    const url = 'postgres://ann:hunter%402@127.0.0.1/app'
    const repeated = describeOpening(new Error('hunter%402, hunter@2'), { type: 'postgres', url })
    expect(repeated.message).to.match(/: \*\*\*, \*\*\*\n/)
    for (const given of [{ password: 'hunter2' }, { key: 'hunter2' }, { url: 'hunter2' }]) {
      const twice = describeOpening(new Error('hunter2 is not hunter2'), {
        type: 'postgres',
        ...given,
      } as never)
      expect(twice.message).to.include(': *** is not ***\n')
    }
  })

  it('names the reason of each address of a host', () => {
    const reasons = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:5432`))
    const { message } = describeOpening(new AggregateError(reasons), { type: 'postgres' })
    expect(message).to.include('connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432')
  })

  it('distinguishes wrong entities from a database that does not respond', async () => {
    const Broken = new EntitySchema({ name: 'broken', columns: { id: { type: Number } } })
    const error = await failure({ type: 'better-sqlite3', database: ':memory:', entities: [Broken] })
    expect(error.code).to.equal('MORTAR_DATABASE_ENTITIES')
    expect(error.message).to.include('broken')
  })
})

for (const [kind, prepare] of Object.entries(KINDS_AND_DRIVERS))
  describe(`a connection to ${kind}`, () => {
    const place = prepare()

    it('keeps dates to the millisecond, booleans and text beyond the basic plane', async () => {
      const Things = new EntitySchema<{ id: number; at: Date; done: boolean; text: string }>({
        name: 'things',
        columns: {
          id: { type: Number, primary: true },
          at: { type: Date, precision: 3 },
          done: { type: Boolean },
          text: { type: String },
        },
      })
      const source = await place().open([Things])
      await source.synchronize()
      const thing = { id: 1, at: new Date('2026-03-29T01:30:00.123Z'), done: true, text: 'naïve 🧱' }
      await source.manager.insert(Things, thing)
      expect(await source.manager.findOneBy(Things, { id: 1 })).to.eql(thing)
    })

    it('compares byte by byte, and keeps more than 64 KiB, in columns that ask for it', async () => {
      const Words = new EntitySchema<{ word: string; text: string }>({
        name: 'words',
        columns: {
          word: { type: String, length: 10, primary: true, [Symbol.for('mortar.column.binary')]: true },
          text: { type: 'text', [Symbol.for('mortar.column.long')]: true },
        },
      })
      const source = await place().open([Words])
      await source.synchronize()
      const words = ['e', 'E', 'é'].map((word) => ({ word, text: 'x'.repeat(70_000) }))
      await source.manager.insert(Words, words)
      for (const each of words) expect(await source.manager.findBy(Words, { word: each.word })).to.eql([each])
    })

    it('keeps a write of another caller when a transaction rolls back', async () => {
      const source = await place().open([Notes])
      await source.synchronize()
      const transaction = source.transaction(async (manager) => {
        await manager.insert(Notes, { id: '1', text: 'undone' })
        throw new Error('no')
      })
      const write = source.manager.insert(Notes, { id: '2', text: 'kept' })
      await Promise.allSettled([transaction, write])
      expect(await source.manager.find(Notes)).to.eql([{ id: '2', text: 'kept' }])
    })
  })
