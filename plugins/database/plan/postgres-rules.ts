import { pattern } from './parse-statement.ts'
import { isVolatile, isWidened, lacksCheck } from './questions.ts'
import { COLUMN, CONSTRAINT, type LockRule, NEW_COLUMN } from './rule.ts'

const EXCLUSIVE = 'ACCESS EXCLUSIVE: all reads and writes of the table wait'

/** Locks of PostgreSQL 12 and later. */
export const POSTGRES: readonly LockRule[] = [
  {
    kind: 'concurrently',
    on: /\bCONCURRENTLY\b/i,
    tables: 'every',
    when: (_operation, { inTransaction }) => inTransaction,
    lock: 'It fails inside a transaction.',
    instead: 'Add `readonly transaction = false` to the migration.',
  },
  {
    kind: 'index',
    on: /^CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)/i,
    tables: 'large',
    lock: 'SHARE: all writes to the table wait until the index is complete.',
    instead: 'CREATE INDEX CONCURRENTLY, in a migration with `readonly transaction = false`.',
  },
  {
    kind: 'type',
    on: pattern('^ALTER (?:COLUMN )?NAME (?:SET DATA )?TYPE '),
    tables: 'large',
    when: async (operation, facts) => !(await isWidened(operation, facts)),
    lock: `${EXCLUSIVE} while it is rewritten.`,
    instead: NEW_COLUMN,
  },
  {
    kind: 'volatile-default',
    on: pattern(COLUMN),
    tables: 'large',
    when: isVolatile,
    lock: `${EXCLUSIVE} while it is rewritten, because each row gets its own value.`,
    instead:
      'Add the column without a default, then ALTER COLUMN … SET DEFAULT, and fill it with inBatches().',
  },
  {
    kind: 'set-not-null',
    on: pattern('^ALTER (?:COLUMN )?NAME SET NOT NULL'),
    tables: 'large',
    when: lacksCheck,
    lock: `${EXCLUSIVE} while all rows are read.`,
    instead:
      'ADD CONSTRAINT … CHECK (… IS NOT NULL) NOT VALID; in the next migration VALIDATE CONSTRAINT; then SET NOT NULL, which reads no row, and drop the constraint.',
  },
  {
    kind: 'foreign-key',
    on: pattern(`${CONSTRAINT}FOREIGN KEY`),
    not: /\bNOT VALID\b/i,
    tables: 'large',
    lock: 'SHARE ROW EXCLUSIVE: all writes to both tables wait while all rows are checked.',
    instead: 'Add it with NOT VALID, and VALIDATE CONSTRAINT in the next migration.',
  },
  {
    kind: 'check',
    on: pattern(`${CONSTRAINT}CHECK`),
    not: /\bNOT VALID\b/i,
    tables: 'large',
    lock: `${EXCLUSIVE} while all rows are checked.`,
    instead: 'Add it with NOT VALID, and VALIDATE CONSTRAINT in the next migration.',
  },
  {
    kind: 'unique',
    on: pattern(`${CONSTRAINT}(?:UNIQUE|PRIMARY KEY|EXCLUDE)|${COLUMN}\\b(?:UNIQUE|PRIMARY KEY)\\b`),
    not: /\bUSING INDEX\b/i,
    tables: 'large',
    lock: `${EXCLUSIVE} until its index is complete.`,
    instead:
      'CREATE UNIQUE INDEX CONCURRENTLY in a migration with `readonly transaction = false`, then ADD CONSTRAINT … UNIQUE USING INDEX.',
  },
  {
    kind: 'validate',
    on: /^VALIDATE CONSTRAINT /i,
    tables: 'large',
    when: ({ text }, { inTransaction, notValid }) =>
      inTransaction && notValid.has(text.slice('VALIDATE CONSTRAINT '.length)),
    lock: 'The lock of ADD CONSTRAINT, which is in the same transaction, remains while all rows are checked.',
    instead: 'VALIDATE CONSTRAINT in the next migration.',
  },
  {
    kind: 'rewrite',
    on: /^SET (TABLESPACE|(UN)?LOGGED|ACCESS METHOD)|^(VACUUM FULL|CLUSTER|REINDEX) /i,
    not: /\bCONCURRENTLY\b/i,
    tables: 'large',
    lock: `${EXCLUSIVE} while it is rewritten.`,
    instead: 'Do it while the application is in maintenance; REINDEX has CONCURRENTLY.',
  },
]
