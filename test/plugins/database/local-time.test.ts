import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect } from 'chai'
import { type DataSource, EntitySchema, type QueryRunner } from 'typeorm'
import { createApp, type DoctorFinding } from 'mortar'
import { type ConnectionOptions, createDataSource, database, type MigrationClass } from '@mortar/database'
import { ROOT } from '../../architecture/tree.ts'
import { inZone } from '../../support/zones.ts'
import { serverUrl } from '../../support/servers.ts'
import { tablesInLocalTime } from '../../../plugins/database/columns/local-time.ts'
import { KINDS, type TestDatabase } from './databases.ts'

interface Note {
  id: number
  at: Date
  createdAt: Date
}

const notesWith = (precise: object): EntitySchema<Note> =>
  new EntitySchema<Note>({
    name: 'notes',
    columns: {
      id: { type: Number, primary: true },
      at: { ...precise, type: Date, precision: 3 },
      createdAt: { ...precise, type: Date, precision: 3, createDate: true, name: 'created_at' },
    },
  })

const Notes = notesWith({})

/** Zone of a laptop and of its database, and rows of both hours that have the same local time. */
const ZONE = 'Europe/Berlin'
const ROWS = ['2026-07-01T12:00:00.007Z', '2026-12-01T12:00:00.000Z', '2026-10-25T01:30:00.000Z']

const OLD = migration('Notes1763650000000', [])
const NEW = migration('Notes1800000000000', [])
const REWRITE = migration('NotesInUtc1763900000000', [
  `UPDATE TABLE SET "at" = "at" AT TIME ZONE '${ZONE}' AT TIME ZONE 'UTC',
   "created_at" = "created_at" AT TIME ZONE '${ZONE}' AT TIME ZONE 'UTC'`,
])

describe('The doctor of database(), about dates in local time', () => {
  for (const [kind, prepare] of Object.entries(KINDS)) {
    if (kind === 'PostgreSQL') continue
    describe(`on ${kind}`, () => {
      const place = prepare()
      it('reports nothing where the server is in UTC, since the driver wrote UTC', async () => {
        const db = await filled(place())
        expect(await inZone(ZONE, () => tablesInLocalTime(db, ['Notes1763650000000']))).to.eql([])
      })
    })
  }

  describe('on PostgreSQL', () => {
    const url = serverUrl('TEST_POSTGRES_URL')
    const place = KINDS['PostgreSQL']!()

    it('names old tables with rows, in a process with another zone, until a migration has rewritten them', async () => {
      const db = await filled(place())
      await writeAsBefore(url, db)
      expect(await findings(place(), 'UTC', [OLD])).to.eql([])
      expect(await findings(place(), ZONE, [NEW])).to.eql([])
      const [found, ...others] = await findings(place(), ZONE, [OLD])
      expect(others).to.eql([])
      expect(found).to.deep.include({
        level: 'warning',
        code: 'MORTAR_DOCTOR_LOCAL_TIME',
        found: 'Tables may have dates in local time, from a version before all dates were in UTC: notes.',
      })
      expect(await findings(place(), ZONE, [OLD, REWRITE])).to.eql([])
      const rows = await db.getRepository(Notes).find({ order: { id: 'ASC' } })
      expect(rows.slice(1).map(({ at }) => at.toISOString())).to.eql(ROWS)
      expect(rows.slice(1).map(({ createdAt }) => createdAt.toISOString())).to.eql(ROWS)
    })

    it('names them where only the server has another zone, or one that is UTC in winter', async () => {
      await filled(place())
      for (const [process, server] of [
        ['UTC', ZONE],
        ['UTC', 'Europe/London'],
        ['Europe/London', 'UTC'],
      ] as const) {
        const extra = { options: `-c TimeZone=${server}` }
        expect(codes(await findings(place(), process, [OLD], extra))).to.eql(['MORTAR_DOCTOR_LOCAL_TIME'])
      }
    })

    it('reports nothing for an application that mortar new has just made', async () => {
      const db = await filled(place())
      const names = firstMigrations()
      expect(names).to.have.length(6)
      for (const name of names)
        expect(await inZone(ZONE, () => tablesInLocalTime(db, [name])), name).to.eql([])
    })

    it('reports no empty table and no column with a zone', async () => {
      const precise = notesWith({ type: 'timestamptz' })
      const db = await place().open([precise])
      await db.synchronize()
      const names = ['Notes1763650000000']
      expect(await inZone(ZONE, () => tablesInLocalTime(db, names))).to.eql([])
    })
  })

  describe('on MariaDB with a server in another zone', () => {
    const place = KINDS['MariaDB']!()

    it('names the table, and the documented statements restore both kinds of columns', async () => {
      const db = await filled(place())
      await db.query('ALTER TABLE notes MODIFY at timestamp(3) NULL')
      await db.query('DELETE FROM notes')
      // The session of an earlier version on such a server: the driver wrote UTC into it.
      await db.transaction(async ({ queryRunner }) => {
        await queryRunner!.query("SET time_zone = '+02:00'")
        await queryRunner!.query("SET timestamp = UNIX_TIMESTAMP('2026-07-01 14:00:00')")
        await queryRunner!.query("INSERT INTO notes (id, at) VALUES (1, '2026-07-01 12:00:00.007')")
        await queryRunner!.query("SET timestamp = DEFAULT, time_zone = '+00:00'")
      })
      await db.query("UPDATE notes SET created_at = CONVERT_TZ(created_at, '+02:00', '+00:00')")
      await db.query("UPDATE notes SET at = CONVERT_TZ(at, '+00:00', '+02:00')")
      const [row] = await db.getRepository(Notes).find()
      expect(row).to.deep.include({ at: new Date(ROWS[0]!), createdAt: new Date('2026-07-01T12:00:00Z') })
      // Of winter and summer. That of London is UTC in winter.
      for (const [winter, summer] of [
        ['+02:00', '+02:00'],
        ['+00:00', '+01:00'],
      ]) {
        const inServer = (sql: string): string =>
          sql
            .replace("'2026-01-01', @@global.time_zone", `'2026-01-01', '${winter}'`)
            .replace("'2026-07-01', @@global.time_zone", `'2026-07-01', '${summer}'`)
        const server: DataSource = Object.create(db, {
          query: { value: (sql: string) => db.query(inServer(sql)) },
        })
        expect(await tablesInLocalTime(server, ['Notes1763650000000'])).to.eql(['notes'])
      }
    })

    const FILLED = {
      'a date of creation': [{ createDate: true }, true],
      'a date of the last change': [{ updateDate: true }, true],
      'a default of the server': [{ default: () => 'CURRENT_TIMESTAMP(3)' }, true],
      'no value of the server': [{ nullable: true }, false],
    } as const
    for (const [what, [options, isNamed]] of Object.entries(FILLED))
      for (const type of ['mysql', 'mariadb'] as const)
        it(`${isNamed ? 'names' : 'leaves out'} a table whose dates have ${what}, with the type ${type}`, async () => {
          const Filled = new EntitySchema<{ id: number; at: Date }>({
            name: 'notes',
            columns: {
              id: { type: Number, primary: true },
              at: { type: 'datetime', precision: 3, ...options },
            },
          })
          const given = { ...place().options([Filled]), type, synchronize: true } as ConnectionOptions
          const db = await createDataSource(given).initialize()
          await db.getRepository(Filled).insert({ id: 1 })
          const server: DataSource = Object.create(db, {
            query: { value: (sql: string) => db.query(sql.replaceAll('@@global.time_zone', "'+02:00'")) },
          })
          const named = await tablesInLocalTime(server, ['Notes1763650000000'])
          await db.destroy()
          expect(named).to.eql(isNamed ? ['notes'] : [])
        })
  })
})

/** Names of the first migrations of new applications with a database server: `Init` and 13 digits. */
function firstMigrations(): string[] {
  const folders = ['examples/notes', 'src/cli/new/templates/users', 'src/cli/new/templates/greetings']
  return folders.flatMap((folder) =>
    ['postgres', 'mysql'].flatMap((kind) =>
      readdirSync(join(ROOT, folder, 'migrations', kind))
        .filter((file) => file.includes('-init'))
        .map((file) => `Init${file.slice(0, 13)}`),
    ),
  )
}

/** A table with one row, as `migrate` would have made it. */
async function filled(place: TestDatabase): Promise<DataSource> {
  const db = await place.open([Notes])
  await db.synchronize()
  await db.getRepository(Notes).insert({ id: 0, at: new Date() })
  return db
}

/** Writes rows as pg does for a process in the zone. */
async function writeAsBefore(url: string, db: DataSource): Promise<void> {
  const { Client } = createRequire(import.meta.url)('pg') as Pg
  const { tablePath } = db.getMetadata(Notes)
  await inZone(ZONE, async () => {
    const client = new Client({ connectionString: url })
    await client.connect()
    for (const [index, iso] of ROWS.entries())
      await client.query(`insert into ${tablePath} values ($1, $2, $2)`, [index + 1, new Date(iso)])
    await client.end()
  })
}

/** The used part of the package pg, which has no types. */
interface Pg {
  readonly Client: new (options: object) => {
    connect(): Promise<unknown>
    query(sql: string, values: readonly unknown[]): Promise<unknown>
    end(): Promise<void>
  }
}

function migration(name: string, statements: readonly string[]): MigrationClass {
  return class {
    readonly name = name
    async up(runner: QueryRunner): Promise<void> {
      const { tablePath } = runner.dataSource.getMetadata(Notes)
      for (const statement of statements) await runner.query(statement.replace('TABLE', tablePath))
    }
    async down(): Promise<void> {}
  }
}

async function findings(
  place: TestDatabase,
  zone: string,
  migrations: readonly MigrationClass[],
  extra: object = {},
): Promise<readonly DoctorFinding[]> {
  const options = { ...place.options([Notes]), extra }
  const brick = database(options, { migrations: [...migrations], pendingMigrations: 'ignore' })
  return inZone(zone, async () => {
    const app = createApp().use(brick)
    const { services } = await app.inspect()
    const { migrations: runs } = services as unknown as { migrations: Runs }
    await runs.connected(() => runs.run())
    const found = await brick.doctor!(services as never)
    await runs.connected(async () => {
      if (!migrations.includes(REWRITE)) for (const _ of migrations) await runs.revert()
    })
    return found
  })
}

interface Runs {
  connected(work: () => Promise<unknown>): Promise<unknown>
  run(): Promise<unknown>
  revert(): Promise<unknown>
}

const codes = (found: readonly DoctorFinding[]): string[] => found.map(({ code }) => code)
