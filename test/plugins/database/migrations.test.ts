import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { EntitySchema, type MigrationInterface, type QueryRunner } from 'typeorm'
import { createDataSource, createMigrations, type MigrationClass } from '@mortar/database'
import { renderMigration } from '../../../plugins/database/migrations/migration-file.ts'
import { StartupError } from 'mortar'
import { KINDS_AND_DRIVERS } from './databases.ts'
import { temporaryFolder } from './notes.ts'

const clock = { now: () => 1_763_650_000_000 }

const Owners = new EntitySchema<{ id: string; email: string; at: Date; active: boolean }>({
  name: 'owners',
  columns: {
    id: { type: 'uuid', primary: true },
    email: { type: String, length: 254, unique: true, default: 'none' },
    at: { type: Date, precision: 3 },
    active: { type: Boolean, default: true },
  },
})

/** The table of pets, with a column more when asked for. */
const petsWith = (columns: object = {}) =>
  new EntitySchema({
    name: 'pets',
    columns: {
      id: { type: Number, primary: true, generated: true },
      owner_id: { type: 'uuid' },
      ...columns,
    } as never,
    foreignKeys: [
      { target: 'owners', columnNames: ['owner_id'], referencedColumnNames: ['id'], onDelete: 'CASCADE' },
    ],
    indices: [{ columns: ['owner_id'] }],
  })

for (const [kind, prepare] of Object.entries(KINDS_AND_DRIVERS))
  describe(`migrations on ${kind}`, () => {
    const place = prepare()
    const folders = temporaryFolder()
    let directory: string
    beforeEach(() => {
      directory = join(folders(), String(Math.random()), 'migrations')
    })

    it('are applied from the start only if all of them can be read', async () => {
      const source = await place().open({ Owners })
      const { generate, run, fresh } = createMigrations(source, { directory, clock })
      await generate('createTables')
      await run()
      await source.getRepository(Owners).insert({ id: ID, at: new Date() })
      writeFileSync(join(directory, '1763650000001-broken.ts'), 'export const nothing = 1')
      expect((await failure(fresh())).code).to.equal('MORTAR_MIGRATION_SHAPE')
      expect(await source.getRepository(Owners).count()).to.equal(1)
    })

    it('are generated, run, shown and reverted', async () => {
      const source = await place().open({ Owners, Pets: petsWith() })
      const migrations = createMigrations(source, { directory, clock })
      const made = await migrations.generate('createTables')
      expect(made?.name).to.equal('CreateTables1763650000000')
      expect(basename(made?.file ?? '')).to.equal('1763650000000-create-tables.ts')
      expect(await migrations.status()).to.eql([{ name: 'CreateTables1763650000000', state: 'pending' }])
      expect(await migrations.run()).to.eql(['CreateTables1763650000000'])
      await source.getRepository(Owners).insert({ id: ID, at: new Date() })
      expect(await migrations.status()).to.eql([{ name: 'CreateTables1763650000000', state: 'applied' }])
      expect(await migrations.run()).to.eql([])
      expect(await migrations.revert()).to.equal('CreateTables1763650000000')
      expect(await migrations.revert()).to.equal(undefined)
      expect(await migrations.status()).to.eql([{ name: 'CreateTables1763650000000', state: 'pending' }])
      expect(await migrations.run()).to.have.length(1)
    })

    it('are not generated when there is nothing to do', async () => {
      const migrations = createMigrations(await place().open({ Owners, Pets: petsWith() }), {
        directory,
        clock,
      })
      await migrations.generate('create tables')
      await migrations.run()
      expect(await migrations.generate('nothing')).to.equal(undefined)
    })

    it('are generated as the difference, dated after the previous one, and keep stored rows', async () => {
      const first = createMigrations(await place().open({ Owners, Pets: petsWith() }), { directory, clock })
      await first.generate('create tables')
      await first.run()
      const source = await place().open({ Owners: ownersWithName(), Pets: petsWith() })
      await source.query(
        `insert into ${table(source, 'owners')} (id, email, at) values ('${ID}', 'a@b.c', '2026-01-01')`,
      )
      await source.getRepository('pets').insert({ owner_id: ID })
      const second = createMigrations(source, { directory, clock })
      const made = await second.generate('add-name')
      expect(made?.name).to.equal('AddName1763650000001')
      expect(await second.run()).to.eql(['AddName1763650000001'])
      expect(await source.getRepository('pets').count()).to.equal(1)
      expect(await source.getRepository('owners').count()).to.equal(1)
      expect(await second.generate('nothing')).to.equal(undefined)
      expect(await second.revert()).to.equal('AddName1763650000001')
      const before = await place().open({ Owners, Pets: petsWith() })
      expect(await before.getRepository('pets').count()).to.equal(1)
      expect(await before.getRepository('owners').count()).to.equal(1)
    })

    it('are not generated while others are pending', async () => {
      const migrations = createMigrations(await place().open({ Owners }), { directory, clock })
      await migrations.generate('create owners')
      const error = await failure(migrations.generate('again'))
      expect(error.code).to.equal('MORTAR_MIGRATION_PENDING')
      expect(error.message).to.include('CreateOwners1763650000000')
    })

    it('run oldest first, and stop at a failure, whose migration is named', async () => {
      const source = await place().open()
      const classes = [
        migration('Third3000000000003'),
        migration('First1000000000001'),
        failing('Second2000000000002'),
      ]
      const error = await failure(createMigrations(source, { directory: classes }).run())
      expect(error.code).to.equal('MORTAR_MIGRATION_FAILED')
      expect(error.message).to.include('Second2000000000002')
      const fixed = [classes[0]!, classes[1]!]
      expect(await createMigrations(source, { directory: fixed }).status()).to.eql([
        { name: 'First1000000000001', state: 'applied' },
        { name: 'Third3000000000003', state: 'pending' },
      ])
    })

    it('run once when several processes start together', async () => {
      if (kind.startsWith('SQLite')) return
      const sources = await Promise.all([1, 2, 3].map(() => place().open()))
      const classes = ['A1000000000001', 'B1000000000002', 'C1000000000003'].map(migration)
      const ran = await Promise.all(
        sources.map((source) => createMigrations(source, { directory: classes }).run()),
      )
      expect(ran.flat().toSorted()).to.eql(['A1000000000001', 'B1000000000002', 'C1000000000003'])
    })

    it('are listed but not reverted when their class is missing', async () => {
      const source = await place().open()
      // Those of one moment run in the order of their names.
      const gone = ['Gone1000000000001', 'Also1000000000001'].map(migration)
      expect(await createMigrations(source, { directory: gone }).run()).to.eql([
        'Also1000000000001',
        'Gone1000000000001',
      ])
      const migrations = createMigrations(source, { directory: [migration('New1000000000002')] })
      expect(await migrations.status()).to.eql([
        { name: 'Also1000000000001', state: 'missing' },
        { name: 'Gone1000000000001', state: 'missing' },
        { name: 'New1000000000002', state: 'pending' },
      ])
      expect((await failure(migrations.revert())).code).to.equal('MORTAR_MIGRATION_MISSING')
    })

    it('run outside a transaction if a migration asks for it', async () => {
      const source = await place().open()
      let inside: boolean | undefined
      class Free1000000000001 implements MigrationInterface {
        readonly transaction = false
        async up(runner: QueryRunner): Promise<void> {
          inside = runner.isTransactionActive
        }
        async down(): Promise<void> {}
      }
      await createMigrations(source, { directory: [Free1000000000001] }).run()
      expect(inside).to.equal(false)
    })
  })

describe('a failed migration on SQLite', () => {
  const open = () => createDataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize()

  it('leaves no change, and keeps foreign keys on', async () => {
    const source = await open()
    await failure(createMigrations(source, { directory: [failing('Bad1000000000001')] }).run())
    expect(await source.query(`select name from sqlite_master where name = 'half'`)).to.eql([])
    expect(await source.query('pragma foreign_keys')).to.eql([{ foreign_keys: 1 }])
    await source.destroy()
  })

  it('leaves the settings of its connection as they were', async () => {
    const source = await open()
    class Legacy1000000000001 implements MigrationInterface {
      async up(runner: QueryRunner): Promise<void> {
        await runner.query('pragma legacy_alter_table = on')
        throw new Error('half way')
      }
      async down(): Promise<void> {}
    }
    await failure(createMigrations(source, { directory: [Legacy1000000000001] }).run())
    expect(await source.query('pragma legacy_alter_table')).to.eql([{ legacy_alter_table: 0 }])
    await source.destroy()
  })

  it('includes one that leaves rows with dangling references', async () => {
    const source = await open()
    await source.query('create table parent (id integer primary key)')
    await source.query('create table child (parent_id integer references parent(id))')
    await source.query('insert into parent values (1)')
    await source.query('insert into child values (1)')
    class Orphans1000000000001 implements MigrationInterface {
      async up(runner: QueryRunner): Promise<void> {
        await runner.query('delete from parent')
      }
      async down(): Promise<void> {}
    }
    const error = await failure(createMigrations(source, { directory: [Orphans1000000000001] }).run())
    expect(error.message).to.include('child to parent')
    expect(await source.query('select * from parent')).to.have.length(1)
    await source.destroy()
  })
})

describe('the migrations folder', () => {
  const folders = temporaryFolder()

  /** Status of a folder with the given files. */
  async function read(files: Record<string, string>, extra = ''): Promise<string[]> {
    const folder = join(folders(), String(Math.random()))
    mkdirSync(folder)
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const source = await createDataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize()
    try {
      const directory = extra === 'as a URL' ? pathToFileURL(folder) : folder
      return (await createMigrations(source, { directory }).status()).map(({ name }) => name)
    } finally {
      await source.destroy()
    }
  }

  const text = (name: string) => `export class ${name} { async up() {} async down() {} }`
  const PACKAGE = { 'package.json': '{ "type": "module" }' }

  it('may contain TypeScript, JavaScript and other files', async () => {
    const files = {
      ...PACKAGE,
      '2-b.js': text('B2000000000002'),
      '1-a.ts': text('A1000000000001') + ' export const note: string = "and something else"',
      '3-c.mjs': text('C3000000000003'),
      '2-b.d.ts': 'export {}',
      '2-b.js.map': '{}',
      '2-b.d.mts': 'export {}',
      ...Object.fromEntries(
        ['1-a.test.ts', '1-a.test.mjs', '1-a.spec.ts', '1-a.spec.js'].map((name) => [
          name,
          'throw new Error("a test")',
        ]),
      ),
      '_shared.ts': 'export const shared = 1',
      '._1-a.ts': 'a copy of macOS',
    }
    expect(await read(files)).to.eql(['A1000000000001', 'B2000000000002', 'C3000000000003'])
  })

  it('may export a migration by its name and as the default', async () => {
    const twice = `${text('A1000000000001')}\nexport { A1000000000001 as default }`
    expect(await read({ ...PACKAGE, '1-a.js': twice })).to.eql(['A1000000000001'])
  })

  it('may be given as a URL', async () => {
    expect(await read({ '1-a.ts': text('A1000000000001') }, 'as a URL')).to.eql(['A1000000000001'])
  })

  const REFUSED: Record<string, [string, Record<string, string>]> = {
    'a file without a migration': ['MORTAR_MIGRATION_SHAPE', { 'a.ts': 'export const a = 1' }],
    'a file that cannot be loaded': ['MORTAR_MIGRATION_SHAPE', { 'a.ts': 'throw new Error("no")' }],
    'a class without a timestamp': ['MORTAR_MIGRATION_NAME', { 'a.ts': text('A') }],
    'the source beside what was compiled from it': [
      'MORTAR_MIGRATION_NAME',
      { ...PACKAGE, 'a.ts': text('A1000000000001'), 'a.js': text('A1000000000001') },
    ],
  }
  for (const [what, [code, files]] of Object.entries(REFUSED))
    it(`may not contain ${what}`, async () => {
      const error = await failure(read(files))
      expect(error.code).to.equal(code)
      expect(error.files.map((file) => basename(file))).to.eql(
        Object.keys(files)
          .filter((name) => name.startsWith('a.'))
          .toSorted(),
      )
    })

  it('must exist, and its path must be absolute', async () => {
    const source = await createDataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize()
    for (const directory of [join(folders(), 'nowhere'), 'migrations'])
      expect((await failure(createMigrations(source, { directory }).run())).code).to.equal(
        'MORTAR_MIGRATIONS_FOLDER',
      )
    await source.destroy()
  })

  it('gets files without types at run time, with each statement unchanged', async () => {
    const source = await createDataSource({
      type: 'better-sqlite3',
      database: ':memory:',
      entities: [Owners],
    }).initialize()
    const made = await createMigrations(source, { directory: join(folders(), 'new'), clock }).generate(
      'first',
    )
    const file = readFileSync(made?.file ?? '', 'utf8')
    expect(file).to.match(/^import type \{ MigrationInterface, QueryRunner \} from 'typeorm'\n/)
    const module = (await import(pathToFileURL(made?.file ?? '').href)) as Record<string, MigrationClass>
    const statements: string[] = []
    const runner = { query: async (sql: string) => statements.push(sql) } as unknown as QueryRunner
    await new module['First1763650000000']!().up(runner)
    expect(statements).to.eql(made?.up.map(({ query }) => query))
    await source.destroy()
  })

  it('gets files whose statements may contain any characters', async () => {
    const query = "select '`${process.exit()}` \\\\ \\n'\n-- next"
    const file = join(folders(), 'odd.ts')
    writeFileSync(
      file,
      renderMigration('Odd1000000000001', { up: [{ query, parameters: ['`'] }], down: [{ query }] }),
    )
    const module = (await import(pathToFileURL(file).href)) as Record<string, MigrationClass>
    const calls: unknown[][] = []
    const runner = { query: async (...args: unknown[]) => calls.push(args) } as unknown as QueryRunner
    const odd = new module['Odd1000000000001']!()
    await odd.up(runner)
    await odd.down(runner)
    expect(calls).to.eql([[query, ['`']], [query]])
  })

  it('gets no file for a name that is not made of words', async () => {
    const source = await createDataSource({
      type: 'better-sqlite3',
      database: ':memory:',
      entities: [Owners],
    }).initialize()
    const directory = join(folders(), 'names')
    const migrations = createMigrations(source, { directory, clock })
    for (const name of ['', '1st', '../evil', "x'y", 'a;b', 'a'.repeat(151)])
      expect((await failure(migrations.generate(name))).code).to.equal('MORTAR_MIGRATION_NAME')
    expect(existsSync(directory)).to.equal(false)
    await source.destroy()
  })
})

const ID = '0b6d1f6e-6f0b-4f7e-9a57-1f0c5c2b7d11'

const ownersWithName = () =>
  new EntitySchema({
    name: 'owners',
    columns: {
      ...Owners.options.columns,
      name: { type: String, default: '' },
      active: { type: Boolean, default: false },
    },
  })

/** With its schema, where the connection has one. */
function table(source: { options: object }, name: string): string {
  const { schema } = source.options as { schema?: string }
  return schema ? `${schema}.${name}` : name
}

/** A migration that does nothing that could be seen. */
function migration(name: string): MigrationClass {
  return class {
    readonly name = name
    async up(runner: QueryRunner): Promise<void> {
      await runner.query('select 1')
    }
    async down(): Promise<void> {}
  }
}

function failing(name: string): MigrationClass {
  return class {
    readonly name = name
    async up(runner: QueryRunner): Promise<void> {
      await runner.query('create table half (id integer)')
      await runner.query('nonsense')
    }
    async down(): Promise<void> {}
  }
}

function failure(promise: Promise<unknown>): Promise<StartupError> {
  return promise.then(
    () => expect.fail('nothing was thrown'),
    (error: unknown) => {
      expect(error).to.be.instanceOf(StartupError)
      return error as StartupError
    },
  )
}
