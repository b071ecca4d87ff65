import { expect } from 'chai'
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm'
import { createDataSource, createMigrations, inBatches } from '@mortar/database'
import type { PlannedMigration } from 'mortar'
import { inSchema, KINDS } from './databases.ts'

const SETUP = [
  'CREATE TABLE people (id int PRIMARY KEY)',
  'CREATE TABLE notes (id int PRIMARY KEY, title varchar(20) NOT NULL, size int, owner int)',
  'CREATE TABLE bare (id int PRIMARY KEY, title varchar(20), size int)',
  'INSERT INTO people VALUES (1), (2), (3)',
  `INSERT INTO notes VALUES (1, 'a', 1, 1), (2, 'b', 2, 2), (3, 'c', 3, 3)`,
  'CREATE TABLE sums (id int PRIMARY KEY, price numeric(5, 2), count int)',
  'INSERT INTO sums VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)',
]
const CHECKS = [
  'ALTER TABLE sums ADD CONSTRAINT has_count CHECK (count IS NOT NULL)',
  'ALTER TABLE sums ADD CONSTRAINT has_price CHECK (price IS NOT NULL) NOT VALID',
]

/** Statements of one migration, or of several, and the kinds of their warnings. */
type Cases = Readonly<Record<string, readonly [statements: readonly string[], ...kinds: string[]]>>

const EVERYWHERE: Cases = {
  'a new table with all that follows': [
    [
      'CREATE TABLE tags (id int PRIMARY KEY, note int, word varchar(20))',
      'CREATE INDEX tags_note ON tags (note)',
      'ALTER TABLE tags ADD COLUMN extra int NOT NULL',
      'ALTER TABLE tags ADD COLUMN more int NOT NULL DEFAULT 3',
      'ALTER TABLE tags RENAME COLUMN word TO words',
      'ALTER TABLE tags DROP COLUMN extra',
      'UPDATE tags SET note = 1',
      'ALTER TABLE tags RENAME TO labels',
      'ALTER TABLE labels DROP COLUMN note',
      'DROP TABLE labels',
    ],
  ],
  'a column that may be null': [['ALTER TABLE notes ADD COLUMN tag varchar(20)']],
  'a column with a constant default': [
    [`ALTER TABLE notes ADD COLUMN tag varchar(20) NOT NULL DEFAULT 'NOT NULL, x'`],
  ],
  'a table that does not exist': [['DROP TABLE IF EXISTS gone', 'UPDATE gone SET id = 1']],
  'a change of few rows': [["INSERT INTO notes (id, title) VALUES (4, 'UPDATE notes')"]],
  'changes of an empty table': [
    [
      'ALTER TABLE bare ADD COLUMN tag int NOT NULL',
      'CREATE INDEX by_title ON bare (title)',
      'UPDATE bare SET size = 1',
    ],
  ],
  'a required column without a default': [['ALTER TABLE notes ADD COLUMN tag int NOT NULL'], 'not-null'],
  'a renamed column': [['ALTER TABLE notes RENAME COLUMN title TO name'], 'rename-column'],
  'a renamed table': [['ALTER TABLE notes RENAME TO pages'], 'rename-table'],
  'a dropped column': [['ALTER TABLE notes DROP COLUMN size'], 'drop-column'],
  'a dropped table': [['DROP TABLE notes'], 'drop-table'],
  'a table that is dropped and made again': [
    [
      'DROP TABLE notes',
      'CREATE TABLE notes (id int PRIMARY KEY)',
      'ALTER TABLE notes ADD COLUMN tag int NOT NULL',
    ],
    'drop-table',
  ],
  'a table that is made only if it is missing': [
    ['CREATE TABLE IF NOT EXISTS notes (id int PRIMARY KEY)', 'ALTER TABLE notes DROP COLUMN size'],
    'drop-column',
  ],
  'a new table under an old name that is renamed': [
    [
      'ALTER TABLE notes RENAME TO old',
      'CREATE TABLE notes (id int PRIMARY KEY)',
      'ALTER TABLE notes RENAME TO pages',
      'ALTER TABLE pages ADD COLUMN tag int NOT NULL',
    ],
    'rename-table',
  ],
  'a change of every row': [
    ['UPDATE notes SET size = 0', '/* all */ DELETE FROM notes'],
    'backfill',
    'backfill',
  ],
}

const POSTGRES: Cases = {
  'an index': [['CREATE INDEX by_title ON notes (title)'], 'index'],
  'a unique index': [['CREATE UNIQUE INDEX by_title ON "notes" USING btree (title)'], 'index'],
  'a concurrent index in a transaction': [
    ['CREATE INDEX CONCURRENTLY by_title ON notes (title)'],
    'concurrently',
  ],
  'a concurrent index without one': [
    ['free', 'CREATE INDEX CONCURRENTLY by_title ON notes (title)', 'DROP INDEX CONCURRENTLY old'],
  ],
  'another type': [['ALTER TABLE notes ALTER COLUMN size TYPE bigint'], 'type'],
  'a shorter text': [['ALTER TABLE notes ALTER title TYPE varchar(10)'], 'type'],
  'a longer text': [
    [
      'ALTER TABLE "notes" ALTER COLUMN "title" TYPE character varying(40)',
      'ALTER TABLE notes ALTER title SET DATA TYPE text',
    ],
  ],
  'a longer number': [['ALTER TABLE sums ALTER price TYPE numeric(9, 2)']],
  'a number with more digits after the point': [['ALTER TABLE sums ALTER price TYPE numeric(9, 3)'], 'type'],
  'a longer text that is computed': [['ALTER TABLE notes ALTER title TYPE text USING upper(title)'], 'type'],
  'a random default': [
    ['ALTER TABLE notes ADD COLUMN tag uuid DEFAULT gen_random_uuid()'],
    'volatile-default',
  ],
  'a serial column': [['ALTER TABLE notes ADD COLUMN number SERIAL NOT NULL'], 'volatile-default'],
  'a default of the current time': [['ALTER TABLE notes ADD COLUMN at timestamptz NOT NULL DEFAULT now()']],
  'a required column': [['ALTER TABLE notes ALTER COLUMN size SET NOT NULL'], 'set-not-null'],
  'a required column after a valid check': [
    [
      'ALTER TABLE notes ADD CONSTRAINT has_size CHECK (size IS NOT NULL) NOT VALID',
      'next',
      'ALTER TABLE notes VALIDATE CONSTRAINT has_size',
      'ALTER TABLE notes ALTER size SET NOT NULL',
      'ALTER TABLE notes DROP CONSTRAINT has_size',
    ],
  ],
  'a required column after a check that is not valid': [
    [
      'ALTER TABLE notes ADD CONSTRAINT has_size CHECK (size IS NOT NULL) NOT VALID',
      'ALTER TABLE notes ALTER size SET NOT NULL',
    ],
    'set-not-null',
  ],
  'a required column with a check in the database': [['ALTER TABLE sums ALTER count SET NOT NULL']],
  'a required column with a check in the database that is not valid': [
    ['ALTER TABLE sums ALTER price SET NOT NULL'],
    'set-not-null',
  ],
  'a constraint that is validated without a transaction': [
    [
      'free',
      'ALTER TABLE notes ADD CONSTRAINT positive CHECK (size > 0) NOT VALID',
      'ALTER TABLE notes VALIDATE CONSTRAINT positive',
    ],
  ],
  'a constraint that is validated in the same transaction': [
    [
      'ALTER TABLE notes ADD CONSTRAINT positive CHECK (size > 0) NOT VALID',
      'ALTER TABLE notes VALIDATE CONSTRAINT positive',
    ],
    'validate',
  ],
  'a foreign key': [
    ['ALTER TABLE notes ADD CONSTRAINT fk FOREIGN KEY (owner) REFERENCES people (id) ON DELETE CASCADE'],
    'foreign-key',
  ],
  'a foreign key that is not valid, and of a new column': [
    [
      'ALTER TABLE notes ADD CONSTRAINT fk FOREIGN KEY (owner) REFERENCES people (id) NOT VALID',
      'ALTER TABLE notes ADD COLUMN parent int REFERENCES notes (id)',
    ],
  ],
  'a check': [['ALTER TABLE notes ADD CHECK (size > 0)'], 'check'],
  'a unique constraint': [['ALTER TABLE notes ADD CONSTRAINT one UNIQUE (title)'], 'unique'],
  'a unique constraint of an index': [['ALTER TABLE notes ADD CONSTRAINT one UNIQUE USING INDEX by_title']],
  'several actions': [
    ['ALTER TABLE ONLY notes ADD tag numeric(5, 2), DROP COLUMN size, ADD CHECK (owner IN (1, 2))'],
    'drop-column',
    'check',
  ],
  'other names': [['ALTER TABLE notes RENAME CONSTRAINT a TO b', 'ALTER INDEX x RENAME TO y']],
  'several statements at a time': [
    ['SET x.y = 1; ALTER TABLE notes DROP size; DROP TABLE people'],
    'drop-column',
    'drop-table',
  ],
}

const MARIADB: Cases = {
  'an index': [
    ['CREATE INDEX by_title ON notes (title)', 'ALTER TABLE `notes` ADD UNIQUE INDEX `one` (`title`)'],
  ],
  'an index of words': [['CREATE FULLTEXT INDEX words ON notes (title)'], 'index'],
  'another type': [['ALTER TABLE `notes` CHANGE `size` `size` bigint NULL'], 'type'],
  'a shorter text': [['ALTER TABLE notes MODIFY title varchar(10) NOT NULL'], 'type'],
  'a longer text, and the same type': [
    [
      'ALTER TABLE notes MODIFY title varchar(300) NOT NULL',
      'ALTER TABLE `notes` CHANGE `size` `size` int(11) NULL DEFAULT 4',
    ],
  ],
  'a renamed column of the same type': [
    ['ALTER TABLE `notes` CHANGE `size` `length` int NULL'],
    'rename-column',
  ],
  'another type without a copy': [['ALTER TABLE notes MODIFY size bigint, ALGORITHM=INPLACE, LOCK=NONE']],
  'a random default': [['ALTER TABLE notes ADD tag varchar(36) DEFAULT (uuid())'], 'volatile-default'],
  'a default of the current time': [
    ['ALTER TABLE notes ADD at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)'],
  ],
  'a foreign key': [
    ['ALTER TABLE notes ADD CONSTRAINT fk FOREIGN KEY (owner) REFERENCES people (id)'],
    'foreign-key',
  ],
  'a foreign key without its check': [
    [
      'SET foreign_key_checks = 0',
      'ALTER TABLE notes ADD CONSTRAINT fk FOREIGN KEY (owner) REFERENCES people (id)',
      'SET foreign_key_checks = 1',
    ],
  ],
  'foreign keys beside a check that is off and on': [
    [
      'SET SESSION foreign_key_checks=OFF',
      'ALTER TABLE notes ADD FOREIGN KEY (owner) REFERENCES people (id)',
      'SET foreign_key_checks = on',
      'ALTER TABLE notes ADD FOREIGN KEY (size) REFERENCES people (id)',
    ],
    'foreign-key',
  ],
  'a table that is renamed by a statement of its own': [['RENAME TABLE notes TO pages'], 'rename-table'],
  'a check': [['ALTER TABLE notes ADD CONSTRAINT positive CHECK (size > 0)'], 'check'],
  'a primary key': [['ALTER TABLE notes DROP PRIMARY KEY'], 'rewrite'],
  'another set of characters': [['ALTER TABLE notes CONVERT TO CHARACTER SET utf8mb4'], 'rewrite'],
}

const rebuild = (columns: string, copied: string): string[] => [
  `CREATE TABLE "temporary_notes" (${columns})`,
  `INSERT INTO "temporary_notes"(${copied}) SELECT ${copied} FROM "notes"`,
  'DROP TABLE "notes"',
  'ALTER TABLE "temporary_notes" RENAME TO "notes"',
]
const ALL = '"id", "title", "size", "owner"'
const SAME = '"id" int PRIMARY KEY, "title" varchar(20) NOT NULL, "size" bigint, "owner" int'

const SQLITE: Cases = {
  'an index': [['CREATE INDEX by_title ON notes (title)']],
  'a rebuilt table': [rebuild(SAME, ALL), 'rebuild'],
  'a rebuilt table in the order of TypeORM’s reversal': [
    [
      'ALTER TABLE "notes" RENAME TO "temporary_notes"',
      `CREATE TABLE "notes" (${SAME})`,
      `INSERT INTO "notes"(${ALL}) SELECT ${ALL} FROM "temporary_notes"`,
      'DROP TABLE "temporary_notes"',
    ],
    'rebuild',
  ],
  'a rebuilt table that loses a column': [
    rebuild('"id" int PRIMARY KEY, "title" varchar(20)', '"id", "title"'),
    'drop-column',
    'rebuild',
  ],
  'a rebuilt table with a required column': [
    rebuild(`${SAME}, "tag" int NOT NULL`, ALL),
    'not-null',
    'rebuild',
  ],
  'a rebuilt table with a default': [rebuild(`${SAME}, "tag" int NOT NULL DEFAULT (3)`, ALL), 'rebuild'],
  'a new table that is rebuilt': [
    [`CREATE TABLE "tags" (${SAME})`, ...rebuild(SAME, ALL).map((sql) => sql.replaceAll('notes', 'tags'))],
  ],
}

const CASES: Readonly<Record<string, Cases>> = {
  SQLite: { ...EVERYWHERE, ...SQLITE },
  PostgreSQL: { ...EVERYWHERE, ...POSTGRES },
  MariaDB: { ...EVERYWHERE, ...MARIADB },
}

function migration(at: number, statements: readonly string[], transaction = true) {
  return class implements MigrationInterface {
    readonly name = `Step${1_000_000_000_000 + at}`
    readonly transaction = transaction
    async up(runner: QueryRunner): Promise<void> {
      for (const sql of statements) await runner.query(sql)
    }
    async down(): Promise<void> {}
  }
}

/** `free` in front makes a migration without a transaction, and `next` begins another one. */
function migrationsOf(statements: readonly string[]) {
  const at = statements.indexOf('next')
  if (at !== -1) return [migration(1, statements.slice(0, at)), migration(2, statements.slice(at + 1))]
  const isFree = statements[0] === 'free'
  return [migration(1, isFree ? statements.slice(1) : statements, !isFree)]
}

const kindsOf = (plan: readonly PlannedMigration[]) =>
  plan.flatMap(({ statements }) => statements.flatMap(({ warnings }) => warnings.map(({ kind }) => kind)))

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`a plan on ${kind}`, function () {
    const place = prepare('suite')
    let source: DataSource
    before(async () => {
      source = await createDataSource(inSchema(place())).initialize()
      for (const sql of [...SETUP, ...(kind === 'PostgreSQL' ? CHECKS : [])]) await source.query(sql)
    })
    after(() => source?.destroy())

    const plan = (directory: readonly (new () => MigrationInterface)[], large = 2) =>
      createMigrations(source, { directory }).plan({ large })

    for (const [name, [statements, ...kinds]] of Object.entries(CASES[kind]!))
      it(`${kinds.length === 0 ? 'does not warn' : `warns (${kinds.join(', ')})`} of ${name}`, async () => {
        const planned = await plan(migrationsOf(statements))
        expect(planned.flatMap((each) => each.incomplete ?? [])).to.eql([])
        expect(kindsOf(planned)).to.eql(kinds)
      })

    it('does not warn of the time for a table with fewer rows than a large one', async () => {
      const statements = Object.values(CASES[kind]!).flatMap(([all, ...kinds]) =>
        kinds.every((each) => SLOW.has(each)) ? all.filter((sql) => sql !== 'free' && sql !== 'next') : [],
      )
      expect(kindsOf(await plan([migration(1, statements)], 4)).filter((each) => SLOW.has(each))).to.eql([])
    })

    it('has the statements, the file and the size, and changes nothing', async () => {
      const secret = 'INSERT INTO notes (id, title) VALUES (4, ?)'
      class Step1000000000001 implements MigrationInterface {
        async up(runner: QueryRunner): Promise<void> {
          await runner.query('CREATE TABLE tags (id int)')
          const rows: { id: number }[] = await runner.query('/* all */ SELECT id FROM notes ORDER BY id')
          for (const { id } of rows) await runner.query(`UPDATE notes SET size = 0 WHERE id = ${id}`)
          await runner.query(secret, ['hidden'])
          await runner.manager.transaction((manager) => manager.query('DELETE FROM people'))
          await runner.dataSource.query('DELETE FROM notes')
        }
        async down(): Promise<void> {}
      }
      const planned = await plan([Step1000000000001])
      expect(await source.query('SELECT 1 FROM tags').catch(() => 'no table')).to.equal('no table')
      expect(
        await source.query('SELECT COUNT(*) AS found FROM people').then(([row]) => Number(row.found)),
      ).to.equal(3)
      const [only] = planned
      expect([planned.length, only!.name, only!.transaction]).to.eql([1, 'Step1000000000001', true])
      expect(only!.statements.map(({ sql }) => sql)).to.eql([
        'CREATE TABLE tags (id int)',
        ...[1, 2, 3].map((id) => `UPDATE notes SET size = 0 WHERE id = ${id}`),
        secret,
        'DELETE FROM people',
        'DELETE FROM notes',
      ])
      expect(JSON.stringify(planned)).not.to.include('hidden')
      expect(only!.statements.at(-1)!.warnings[0]).to.include({ table: 'notes', rows: 2 })
    })

    if (kind === 'SQLite')
      it('does not run a pragma that sets a value', async () => {
        const [planned] = await plan([migration(1, ['PRAGMA user_version = 7'])])
        expect(planned!.statements.map(({ sql }) => sql)).to.eql(['PRAGMA user_version = 7'])
        expect(await source.query('PRAGMA user_version')).to.eql([{ user_version: 0 }])
      })

    it('says that it is incomplete where a migration needs what was not run, or the connection itself', async () => {
      class Step1000000000001 implements MigrationInterface {
        async up(runner: QueryRunner): Promise<void> {
          await runner.query('DELETE FROM people')
          await runner.connect()
        }
        async down(): Promise<void> {}
      }
      const [planned] = await plan([Step1000000000001])
      expect(planned!.statements).to.have.length(1)
      expect(planned!.incomplete).to.equal('it uses the connection of the driver')
    })

    it('shows one batch of inBatches(), without a warning, and warns of a change after it', async () => {
      class Step1000000000001 implements MigrationInterface {
        readonly transaction = false
        async up(runner: QueryRunner): Promise<void> {
          await inBatches(
            runner.manager,
            { name: 'x', table: 'notes', key: 'id', size: 2 },
            (manager, keys) => manager.query(`UPDATE notes SET size = 0 WHERE id IN (${keys.join()})`),
          )
          await runner.query('UPDATE notes SET size = 1')
        }
        async down(): Promise<void> {}
      }
      const planned = await plan([Step1000000000001])
      const changes = planned[0]!.statements.map(({ sql }) => sql).filter((sql) => sql.startsWith('UPDATE'))
      expect(changes).to.eql(['UPDATE notes SET size = 0 WHERE id IN (1,2)', 'UPDATE notes SET size = 1'])
      expect([kindsOf(planned), planned[0]!.incomplete]).to.eql([['backfill'], undefined])
      expect(planned[0]!.statements.at(-1)!.warnings).to.have.length(1)
    })
  })

/** Kinds that depend on the number of rows. */
const SLOW = new Set(
  'index type volatile-default set-not-null foreign-key check unique validate rewrite rebuild backfill'.split(
    ' ',
  ),
)
