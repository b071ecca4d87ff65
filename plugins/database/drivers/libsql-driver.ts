/*
 * libsql behind better-sqlite3's interface. libsql has the same methods, and differs where an application would notice:
 * it aborts the process for a boolean, for a single parameter that is an object and for `inTransaction` after `close()`, ignores `readonly` and
 * `fileMustExist`, gives blobs as ArrayBuffer, adds `_metadata` to the row of `get()`, cuts strings at U+0000 when it
 * reads them, binds NULL to parameters that are missing, and keeps locks after `close()`.
 * test/plugins/database/libsql-driver.test.ts compares both drivers.
 */
import { existsSync } from 'node:fs'

type Row = Record<string, unknown>

interface NativeStatement {
  readonly reader: boolean
  run(parameters: readonly unknown[]): { changes: number; lastInsertRowid: number | bigint }
  get(parameters: readonly unknown[]): Row | unknown[] | undefined
  all(parameters: readonly unknown[]): (Row | unknown[])[]
  raw(on?: boolean): unknown
  safeIntegers(on?: boolean): unknown
  columns(): readonly { readonly name: string }[]
}

interface NativeDatabase {
  readonly inTransaction: boolean
  readonly open: boolean
  prepare(sql: string): NativeStatement
  exec(sql: string): unknown
  loadExtension(path: string): unknown
  defaultSafeIntegers(on: boolean): unknown
  close(): void
}

/** The class that the package `libsql` exports. */
export type LibsqlClass = new (file: string, options?: object) => NativeDatabase

/** Options of better-sqlite3, as TypeORM passes them. */
interface OpenOptions {
  readonly readonly?: boolean
  readonly fileMustExist?: boolean
  /** Milliseconds. */
  readonly timeout?: number
  readonly verbose?: ((sql: string) => void) | null
}

/** True for the class that `libsql` exports, and false for the class of better-sqlite3 or of `adaptLibsql`. */
export function isLibsql(driver: unknown): driver is LibsqlClass {
  return typeof driver === 'function' && 'syncUntil' in (driver.prototype as object)
}

/** A class that behaves as better-sqlite3's does, as far as TypeORM and this brick use it. */
export type AdaptedClass = new (file: string, options?: object) => AdaptedDatabase

/** Makes the class of better-sqlite3's interface from the one that `libsql` exports. */
export function adaptLibsql(Libsql: LibsqlClass): AdaptedClass {
  return class extends AdaptedDatabase {
    constructor(file: string, options: OpenOptions = {}) {
      const { readonly = false, fileMustExist = readonly, timeout = 5000 } = options
      if (fileMustExist && file !== ':memory:' && !existsSync(file)) throw cannotOpen(file)
      super(new Libsql(file, { timeout }), options)
    }
  }
}

class AdaptedDatabase {
  readonly #native: NativeDatabase
  readonly #verbose: ((sql: string) => void) | undefined

  constructor(native: NativeDatabase, { readonly = false, verbose }: OpenOptions) {
    this.#native = native
    this.#verbose = verbose ?? undefined
    if (readonly) native.exec('PRAGMA query_only = ON')
  }

  get open(): boolean {
    return this.#native.open
  }

  /** libsql aborts the process when a closed connection is asked. */
  get inTransaction(): boolean {
    return this.open && this.#native.inTransaction
  }

  prepare(sql: string): Statement {
    this.#verbose?.(sql)
    return new Statement(this.#native.prepare(sql), sql, this)
  }

  exec(sql: string): this {
    this.#verbose?.(sql)
    this.#native.exec(sql)
    return this
  }

  pragma(source: string, { simple = false }: { simple?: boolean } = {}): unknown {
    const rows = this.prepare(`PRAGMA ${source}`).all()
    return simple ? rows[0] && Object.values(rows[0])[0] : rows
  }

  loadExtension(path: string): this {
    this.#native.loadExtension(path)
    return this
  }

  defaultSafeIntegers(on = true): this {
    this.#native.defaultSafeIntegers(on)
    return this
  }

  /** libsql keeps the connection until its statements are collected, and with it the locks of a transaction. */
  close(): this {
    if (this.inTransaction) this.#native.exec('ROLLBACK')
    if (this.open) this.#native.close()
    return this
  }
}

class Statement {
  readonly #native: NativeStatement
  readonly #database: { readonly open: boolean }
  readonly #expected: number | undefined
  #plucks = false
  #hasMetadata: boolean | undefined

  constructor(native: NativeStatement, sql: string, database: { readonly open: boolean }) {
    this.#native = native
    this.#database = database
    this.#expected = countParameters(sql)
  }

  get reader(): boolean {
    return this.#native.reader
  }

  run(...parameters: unknown[]): { changes: number; lastInsertRowid: number | bigint } {
    const { changes, lastInsertRowid } = this.#native.run(this.#bind(parameters))
    return { changes, lastInsertRowid }
  }

  get(...parameters: unknown[]): Row | unknown[] | undefined {
    if (this.#columnIsMetadata()) return this.all(...parameters)[0]
    const row = this.#native.get(this.#bind(parameters))
    if (row === undefined) return undefined
    if (!Array.isArray(row)) delete row['_metadata']
    return this.#shape(row) as Row
  }

  all(...parameters: unknown[]): (Row | unknown[])[] {
    return this.#native.all(this.#bind(parameters)).map((row) => this.#shape(row) as Row)
  }

  /** Reads every row first: a cursor that is left would keep its lock. */
  iterate(...parameters: unknown[]): IterableIterator<Row | unknown[]> {
    return this.all(...parameters).values()
  }

  raw(on = true): this {
    this.#native.raw(on)
    return this
  }

  pluck(on = true): this {
    this.#plucks = on
    return this.raw(on)
  }

  safeIntegers(on = true): this {
    this.#native.safeIntegers(on)
    return this
  }

  columns(): readonly { readonly name: string }[] {
    return this.#native.columns()
  }

  #columnIsMetadata(): boolean {
    return (this.#hasMetadata ??= this.columns().some(({ name }) => name === '_metadata'))
  }

  #bind(given: readonly unknown[]): unknown[] {
    if (!this.#database.open) throw new TypeError('The database connection is not open')
    const parameters = given.flat()
    for (const parameter of parameters) checkParameter(parameter)
    if (this.#expected !== undefined && parameters.length !== this.#expected)
      throw new RangeError(
        `Too ${parameters.length < this.#expected ? 'few' : 'many'} parameter values were provided`,
      )
    return parameters
  }

  #shape(row: Row | unknown[]): unknown {
    const values = row as Row
    for (const key in values) if (values[key] instanceof ArrayBuffer) values[key] = Buffer.from(values[key])
    return this.#plucks && Array.isArray(row) ? row[0] : row
  }
}

function checkParameter(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw invalidText()
    return
  }
  if (value === null || value === undefined || typeof value === 'number' || typeof value === 'bigint') return
  if (!(value instanceof Uint8Array))
    throw new TypeError('SQLite3 can only bind numbers, strings, bigints, buffers, and null')
}

/** The code lets `violation()` recognize the error. */
function invalidText(): TypeError {
  const error = new TypeError('libsql cannot store a string that contains U+0000')
  return Object.assign(error, { code: 'ERR_INVALID_TEXT' })
}

const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g

/** Number of `?` in a statement; undefined for one with numbered or named parameters, whose count is not that. */
function countParameters(sql: string): number | undefined {
  const bare = sql.replace(QUOTED, ' ')
  return /\?\d|[:@$][a-z_]/i.test(bare) ? undefined : bare.split('?').length - 1
}

function cannotOpen(file: string): Error {
  return Object.assign(new Error(`unable to open database file: ${file} does not exist`), {
    code: 'SQLITE_CANTOPEN',
  })
}
