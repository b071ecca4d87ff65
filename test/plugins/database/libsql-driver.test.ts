import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { adaptLibsql, isLibsql, type LibsqlClass } from '../../../plugins/database/drivers/libsql-driver.ts'

/** better-sqlite3's interface, as far as these tests use it. */
interface Statement {
  readonly reader: boolean
  run(...parameters: unknown[]): unknown
  get(...parameters: unknown[]): unknown
  all(...parameters: unknown[]): unknown[]
  iterate(...parameters: unknown[]): Iterable<unknown>
  pluck(): Statement
  raw(): Statement
}
interface Database {
  readonly inTransaction: boolean
  prepare(sql: string): Statement
  pragma(source: string, options?: { simple: boolean }): unknown
  exec(sql: string): unknown
  loadExtension(path: string): unknown
  defaultSafeIntegers(): unknown
  close(): unknown
}
type Driver = new (file: string, options?: object) => Database

const load = createRequire(import.meta.url)
const Libsql = load('libsql') as LibsqlClass
const DRIVERS = {
  'better-sqlite3': load('better-sqlite3') as Driver,
  libsql: adaptLibsql(Libsql) as unknown as Driver,
}

const select = 'select * from kept order by id'
const insert = 'insert into kept (value) values (?)'

/** Each gives the same on both drivers, or throws an error of the same class, code and message. */
const SAME: Readonly<Record<string, (db: Database) => unknown>> = {
  'rows of all()': (db) => db.prepare(select).all(),
  'a row of get()': (db) => db.prepare(select).get(),
  'no row of get()': (db) => db.prepare('select 1 where 0').get(),
  'a column named _metadata': (db) => db.prepare('select 1 as _metadata').get(),
  'rows of iterate()': (db) => [...db.prepare(select).iterate()],
  'plucked rows': (db) => [db.prepare(select).pluck().all(), db.prepare(select).pluck().get()],
  'raw rows': (db) => [db.prepare(select).raw().all(), db.prepare(select).raw().get()],
  'the outcome of an insertion': (db) => db.prepare(insert).run('x'),
  'the rows of RETURNING': (db) => {
    const statement = db.prepare(`${insert} returning id, value`)
    return [statement.reader, statement.all('y')]
  },
  'no rows from a statement that writes': (db) => db.prepare(insert).reader,
  'a blob, alone and beside others': (db) => {
    db.prepare(insert).run(Buffer.from([0, 1, 255]))
    return db.prepare('select value, ? as sent, typeof(value) as type from kept').all(Buffer.from('b'))
  },
  'numbers of every kind': (db) =>
    [0, -0, 1.5, 2 ** 53 - 1, Number.NaN, Infinity, 10n].map((value) => {
      db.prepare(insert).run(value)
      return db.prepare('select value from kept order by id desc').pluck().get()
    }),
  nothing: (db) => db.prepare('select ? as a, ? as b').all(null, undefined),
  'parameters in one list': (db) => db.prepare('select ? as a, ? as b').all(['x', 'y']),
  'a question mark inside quotes and comments': (db) =>
    db.prepare(`select '?' as "a?", ? as b /* ? */ -- ?\n`).all('x'),
  'a boolean': (db) => db.prepare(insert).run(true),
  'a date': (db) => db.prepare(insert).run(1, new Date()),
  'a symbol': (db) => db.prepare(insert).run(Symbol('s')),
  'too few parameters': (db) => db.prepare('select ?, ?').all('x'),
  'no parameters': (db) => db.prepare(insert).run(),
  'too many parameters': (db) => db.prepare(insert).run('x', 'y'),
  'an empty list': (db) => db.prepare(insert).run([]),
  'broken SQL': (db) => db.prepare('selec'),
  'a missing table': (db) => db.prepare('select * from missing'),
  'a broken constraint': (db) => db.exec('insert into kept (id) values (1)'),
  'a pragma': (db) => [db.pragma('foreign_keys'), db.pragma('foreign_keys', { simple: true })],
  'whether a transaction is open': (db) => {
    const seen = [db.inTransaction]
    for (const sql of ['begin', 'rollback', 'begin immediate', 'commit']) {
      db.exec(sql)
      seen.push(db.inTransaction)
    }
    return seen
  },
  'a connection that is closed': (db) => {
    const statement = db.prepare(select)
    db.close()
    const calls = [
      () => statement.all(),
      () => statement.get(),
      () => [...statement.iterate()],
      () => statement.run(),
      () => db.prepare(select),
      () => db.exec('select 1'),
      () => db.pragma('foreign_keys'),
      () => db.loadExtension('none'),
      () => db.defaultSafeIntegers() === db,
    ]
    return [db.inTransaction, ...calls.map(outcomeOf)]
  },
  'an error that ends the transaction': (db) => {
    db.exec('begin')
    const outcome = outcomeOf(() => db.exec('insert or rollback into kept (id) values (1)'))
    return [outcome, db.inTransaction]
  },
}

function outcomeOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    const { name, code, message } = error as NodeJS.ErrnoException
    return { name, code, message }
  }
}

describe('libsql behind the interface of better-sqlite3', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mortar-libsql-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  function open(Driver: Driver, options: object = {}, file = 'app.db'): Database {
    return new Driver(join(folder, file), options)
  }

  function filled(Driver: Driver, file: string): Database {
    const db = open(Driver, {}, file)
    db.exec('create table kept (id integer primary key, value)')
    for (const value of ['one', null, 'three']) db.prepare(insert).run([value])
    return db
  }

  for (const [name, ask] of Object.entries(SAME))
    it(`gives the same for ${name}`, () => {
      const [expected, actual] = Object.entries(DRIVERS).map(([driver, Driver]) => {
        const db = filled(Driver, `${driver}.db`)
        try {
          return outcomeOf(() => ask(db))
        } finally {
          db.close()
        }
      })
      expect(actual).to.deep.equal(expected)
    })

  for (const value of [{}, { 1: 'x' }, () => 1, new Float64Array(1)])
    it(`refuses a single parameter that cannot be bound: ${typeof value} ${JSON.stringify(value)}`, () => {
      const db = filled(DRIVERS.libsql, 'app.db')
      expect(() => db.prepare(insert).run(value)).to.throw(TypeError, 'can only bind')
      db.close()
    })

  it('refuses a string with U+0000, which libsql would cut when it reads it', () => {
    const db = filled(DRIVERS.libsql, 'app.db')
    expect(() => db.prepare(insert).run('a\0b')).to.throw(TypeError, 'U+0000')
    db.close()
  })

  for (const [name, Driver] of Object.entries(DRIVERS)) {
    it(`is read-only if configured, and then needs an existing file: ${name}`, () => {
      filled(Driver, 'app.db').close()
      const db = open(Driver, { readonly: true })
      expect(db.prepare(select).all()).to.have.length(3)
      expect(() => db.prepare(insert).run('x')).to.throw('readonly')
      db.close()
      for (const options of [{ readonly: true }, { fileMustExist: true }])
        expect(() => open(Driver, options, 'none.db'))
          .to.throw()
          .with.property('code', 'SQLITE_CANTOPEN')
      expect(existsSync(join(folder, 'none.db'))).to.equal(false)
    })

    it(`lets go of its locks when it is closed in a transaction: ${name}`, () => {
      const first = filled(Driver, 'app.db')
      first.exec('begin immediate')
      first.prepare(insert).run('lost')
      first.close()
      const second = open(Driver, { timeout: 0 })
      second.exec('begin immediate')
      expect(second.prepare(select).all()).to.have.length(3)
      second.close()
    })

    it(`waits for a lock no longer than its time-out: ${name}`, () => {
      const first = filled(Driver, 'app.db')
      first.exec('begin immediate')
      const second = open(Driver, { timeout: 0 })
      expect(() => second.exec('begin immediate'))
        .to.throw()
        .with.property('code', 'SQLITE_BUSY')
      for (const db of [first, second]) db.close()
    })
  }

  it('is distinguished from better-sqlite3, and from an adapted class', () => {
    expect([Libsql, ...Object.values(DRIVERS), undefined].map(isLibsql)).to.deep.equal([
      true,
      false,
      false,
      false,
    ])
  })
})
