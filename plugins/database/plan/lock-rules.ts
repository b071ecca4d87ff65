import type { Facts } from './facts.ts'
import { MYSQL } from './mysql-rules.ts'
import { pattern } from './parse-statement.ts'
import { POSTGRES } from './postgres-rules.ts'
import { lacksValue, losesColumn } from './questions.ts'
import { COLUMN, type LockRule, NEW_COLUMN } from './rule.ts'

const HAS_VALUE = /\b(DEFAULT|GENERATED|(BIG|SMALL)?SERIAL\d?|AUTO_INCREMENT|IDENTITY)\b|\bAS ?\(/i
const LOST =
  'Code that runs now reads the column, and fails. Its values are lost, also if the migration adds it again.'
const DROP_LATER =
  'First deploy an entity without the column, which is nullable or has a default; drop it with the next deployment. To change a type, write the change by hand.'
const NO_VALUE =
  'Existing rows have no value: the statement fails, or MariaDB writes 0 or an empty string. Code that runs now inserts none.'
const FILL_LATER =
  'Give the column a default, or add it as nullable, fill it with inBatches(), and require it later.'

const EVERYWHERE: readonly LockRule[] = [
  {
    kind: 'rename-table',
    on: pattern('^RENAME (?:(?:TO|AS) |TABLE )|^RENAME (?!COLUMN|INDEX|KEY|CONSTRAINT)NAME$'),
    tables: 'any',
    lock: 'Code that runs now uses the old name, and fails.',
    instead: 'Keep the name of the table, and set it as `tableName` of the entity.',
  },
  {
    kind: 'rename-column',
    on: pattern('^RENAME (?:COLUMN )?(?:IF EXISTS )?(?!CONSTRAINT|INDEX|KEY)NAME TO NAME$'),
    tables: 'any',
    lock: 'Code that runs now uses the old name, and fails.',
    instead: `Keep the column, and set it as \`name\` of the property. ${NEW_COLUMN}`,
  },
  {
    kind: 'drop-column',
    on: pattern(
      '^DROP (?:COLUMN )?(?:IF EXISTS )?(?!(?:CONSTRAINT|INDEX|KEY|PRIMARY|FOREIGN|CHECK|PARTITION|PERIOD|SYSTEM|TABLE)\\b)NAME',
    ),
    tables: 'any',
    lock: LOST,
    instead: DROP_LATER,
  },
  {
    kind: 'drop-table',
    on: /^DROP TABLE /i,
    tables: 'any',
    lock: 'Code that runs now uses the table, and fails. Its rows are lost.',
    instead: 'First deploy code that does not use the table, and drop it with the next deployment.',
  },
  {
    kind: 'not-null',
    on: pattern(`${COLUMN}\\bNOT NULL\\b`),
    tables: 'filled',
    when: ({ text }) => !HAS_VALUE.test(text),
    lock: NO_VALUE,
    instead: FILL_LATER,
  },
  {
    kind: 'backfill',
    on: /^(UPDATE|DELETE) /i,
    tables: 'large',
    when: (_operation, { inBatch }) => !inBatch,
    lock: 'Every changed row is locked until the end of the transaction; on SQLite all writes wait.',
    instead: 'Change the rows with inBatches(), in a migration with `readonly transaction = false`.',
  },
]

const SQLITE: readonly LockRule[] = [
  {
    kind: 'drop-column',
    on: /^INSERT INTO /i,
    tables: 'any',
    when: losesColumn,
    lock: LOST,
    instead: DROP_LATER,
  },
  {
    kind: 'not-null',
    on: /^INSERT INTO /i,
    tables: 'filled',
    when: lacksValue,
    lock: NO_VALUE,
    instead: FILL_LATER,
  },
  {
    kind: 'rebuild',
    on: /^INSERT INTO /i,
    tables: 'large',
    when: ({ path }, { isRebuilt }) => isRebuilt(path),
    lock: 'SQLite copies the table, and all writes to the database wait.',
    instead:
      'ADD COLUMN, RENAME COLUMN and DROP COLUMN copy nothing: write them by hand if they are all that changes. Otherwise do it while few requests come.',
  },
]

/** The rules by kind of database. */
export const RULES: Readonly<Record<Facts['dialect'], readonly LockRule[]>> = {
  postgres: [...EVERYWHERE, ...POSTGRES],
  mysql: [...EVERYWHERE, ...MYSQL],
  sqlite: [...EVERYWHERE, ...SQLITE],
}
