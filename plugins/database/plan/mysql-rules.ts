import { pattern } from './parse-statement.ts'
import { copiesTable } from './questions.ts'
import { COLUMN, CONSTRAINT, type LockRule, NEW_COLUMN } from './rule.ts'

const COPY = 'The server copies the table, and all writes to it wait.'

/** Locks of MariaDB 10.6 and later. */
export const MYSQL: readonly LockRule[] = [
  {
    kind: 'rename-column',
    on: pattern('^CHANGE '),
    tables: 'any',
    when: ({ text }) => {
      const [, from, to] = pattern('^CHANGE (?:COLUMN )?(NAME) (NAME)').exec(text) ?? []
      return from !== undefined && from !== to
    },
    lock: 'Code that runs now uses the old name, and fails.',
    instead: `Keep the column, and set it as \`name\` of the property. ${NEW_COLUMN}`,
  },
  {
    kind: 'type',
    on: /^(CHANGE|MODIFY) /i,
    not: /\bALGORITHM ?=? ?(INSTANT|NOCOPY|INPLACE)\b/i,
    tables: 'large',
    when: copiesTable,
    lock: COPY,
    instead: NEW_COLUMN,
  },
  {
    kind: 'volatile-default',
    on: pattern(
      `${COLUMN}(?:\\bSTORED\\b|\\bPERSISTENT\\b|\\bREFERENCES\\b|\\bDEFAULT \\(?(?!current_|now|local)\\w+ ?\\()`,
    ),
    tables: 'large',
    lock: COPY,
    instead: 'Add the column without it, and fill it with inBatches().',
  },
  {
    kind: 'foreign-key',
    on: pattern(`${CONSTRAINT}FOREIGN KEY`),
    tables: 'large',
    when: (_operation, { checksForeignKeys }) => checksForeignKeys,
    lock: COPY,
    instead:
      'SET foreign_key_checks = 0 before it and = 1 after it, so that no row is copied or checked. Look for rows without a parent yourself.',
  },
  {
    kind: 'check',
    on: pattern(`${CONSTRAINT}CHECK`),
    tables: 'large',
    lock: COPY,
    instead:
      'Check the values in the schemas of the routes, or add the constraint while the application is in maintenance.',
  },
  {
    kind: 'index',
    on: /^(ADD|CREATE) (FULLTEXT|SPATIAL) /i,
    tables: 'large',
    lock: 'All writes to the table wait until the index is complete.',
    instead: 'Add it while the application is in maintenance.',
  },
  {
    kind: 'rewrite',
    on: /^DROP PRIMARY KEY|^CONVERT TO /i,
    not: /\bADD PRIMARY KEY\b/i,
    tables: 'large',
    lock: COPY,
    instead:
      'Copy the rows to a new table with inBatches(), or do it while the application is in maintenance.',
  },
]
