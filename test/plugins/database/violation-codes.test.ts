import { expect } from 'chai'
import { violation, type ViolationKind } from '@mortar/database'
import { explainStatements } from '../../../plugins/database/migrations/explain-statements.ts'

/** Codes of better-sqlite3 and PostgreSQL, and numbers of MariaDB and MySQL, as the databases document them. */
const CODES: Readonly<Record<ViolationKind, readonly (string | number)[]>> = {
  duplicate_key: [
    'SQLITE_CONSTRAINT_UNIQUE',
    'SQLITE_CONSTRAINT_PRIMARYKEY',
    'SQLITE_CONSTRAINT_ROWID',
    '23505',
    1062,
    1586,
  ],
  foreign_key: ['SQLITE_CONSTRAINT_FOREIGNKEY', '23503', '23001', 1216, 1217, 1451, 1452],
  not_null: ['SQLITE_CONSTRAINT_NOTNULL', '23502', 1048, 1364],
  check: ['SQLITE_CONSTRAINT_CHECK', '23514', 3819, 4025],
  exclusion: ['23P01'],
  too_long: ['SQLITE_TOOBIG', '22001', 1406],
  out_of_range: ['22003', '22008', 1264, 1690],
  invalid_value: [
    'SQLITE_CONSTRAINT_DATATYPE',
    'SQLITE_MISMATCH',
    '22007',
    '22P02',
    '22P03',
    1265,
    1292,
    1366,
  ],
  invalid_text: ['ERR_INVALID_TEXT', '22021', '22P05'],
}

describe('violation by the code of a driver', () => {
  for (const [kind, codes] of Object.entries(CODES))
    it(`is ${kind} for each code`, () => {
      const kindOf = (code: string | number) =>
        violation(Object.assign(new Error('failed'), typeof code === 'string' ? { code } : { errno: code }))
          ?.kind
      expect(codes.map(kindOf)).to.eql(codes.map(() => kind))
    })

  for (const sql of [
    "INSERT INTO `books` (`slug`) VALUES ('a')",
    'replace into books values (1)',
    'REPLACE `app`.`books` SET id = 1',
    'insert ignore into app.books values (1)',
    '\n  update low_priority books set slug = null',
  ])
    it(`names the table of MariaDB's statement ${JSON.stringify(sql)}`, () => {
      const message = "Field 'slug' doesn't have a default value"
      const error = Object.assign(new Error('failed'), { driverError: { errno: 1364, message, sql } })
      expect(violation(error)).to.eql({ kind: 'not_null', table: 'books', columns: ['slug'] })
    })
})

/** Errors of drivers, and what development shows of each: the names, the test and the error to throw instead. */
const SHOWN: readonly (readonly [error: object, found: string, remedy: string])[] = [
  [
    { code: 'SQLITE_CONSTRAINT_UNIQUE', message: "UNIQUE constraint failed: index 'books_lower'" },
    'duplicate_key (constraint books_lower)',
    "if (duplicateKey(error, 'books_lower')) throw new Conflict(…)",
  ],
  [
    { code: 'SQLITE_CONSTRAINT_UNIQUE', message: 'UNIQUE constraint failed: books.shelf_id, books.place' },
    'duplicate_key (table books, columns shelf_id, place)',
    "if (duplicateKey(error, 'shelf_id', 'place')) throw new Conflict(…)",
  ],
  [{ errno: 1062 }, 'duplicate_key', 'if (duplicateKey(error)) throw new Conflict(…)'],
  [
    { code: '23502', table: 'books', column: 'slug' },
    'not_null (table books, column slug)',
    "if (violation(error)?.kind === 'not_null') throw an HttpError",
  ],
  [{ code: 'SQLITE_TOOBIG' }, 'too_long', "if (violation(error)?.kind === 'too_long') throw an HttpError"],
]

describe('A refused value in development', () => {
  for (const [error, found, remedy] of SHOWN)
    it(`is described as ${found}`, async () => {
      const thrown = Object.assign(new Error('failed'), { driverError: error })
      const shown: unknown = await Promise.resolve(
        explainStatements({} as never, () => Promise.reject(thrown)),
      ).catch((reason: unknown) => reason)
      expect((shown as Error).message)
        .to.include(`refused a value: ${found}. To send`)
        .and.include(remedy)
    })
})
