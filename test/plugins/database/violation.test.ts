import { expect } from 'chai'
import { type DataSource, EntitySchema } from 'typeorm'
import { Conflict, createApp, createRouter, type Logger } from 'mortar'
import { databaseFaultOf, describeError, isOutage } from 'mortar/kit'
import {
  database,
  duplicateKey,
  missingColumn,
  missingTable,
  param,
  query,
  type Violation,
  type ViolationKind,
  violation,
} from '@mortar/database'
import { UNREADABLE } from '../../support/unreadable-error.ts'
import { KINDS_AND_DRIVERS, type TestDatabase } from './databases.ts'

interface Shelf {
  id: number
  name: string
}

interface Book {
  id: number
  slug: string
  shelf: number
  place: number | null
  pages: number
  notes: object | null
}

const Shelves = new EntitySchema<Shelf>({
  name: 'shelves',
  columns: { id: { type: Number, primary: true }, name: { type: String } },
})

const Books = new EntitySchema<Book>({
  name: 'books',
  columns: {
    id: { type: Number, primary: true },
    slug: { type: String, length: 19, unique: true },
    shelf: {
      type: Number,
      name: 'shelf_id',
      foreignKey: { target: 'shelves', inverseSide: 'id', onDelete: 'NO ACTION' },
    },
    place: { type: Number, nullable: true },
    pages: { type: 'smallint' },
    notes: { type: 'simple-json', nullable: true },
  },
  indices: [{ name: 'books_place', columns: ['shelf', 'place'], unique: true }],
  checks: [{ name: 'books_pages', expression: 'pages > 0' }],
})

const Days = new EntitySchema<{ day: number }>({
  name: 'days',
  columns: { day: { type: Number, primary: true } },
})

const GOOD: Book = { id: 2, slug: 'b', shelf: 1, place: 2, pages: 1, notes: null }

/** A value beside those of a good row, and the violation that it causes; databases that store the value are left out. */
interface Case {
  readonly what: string
  readonly row: Readonly<Record<string, unknown>>
  readonly kind: ViolationKind
  readonly columns?: readonly string[]
  readonly except?: readonly string[]
}

const SQLITES = ['SQLite', 'SQLite by libsql']
const MARIADBS = ['MariaDB', 'MariaDB by its own type']

const CASES: readonly Case[] = [
  { what: 'a primary key', row: { id: 1 }, kind: 'duplicate_key', columns: ['id'] },
  { what: 'a unique column', row: { slug: "a' for key 'x" }, kind: 'duplicate_key', columns: ['slug'] },
  { what: 'a named index', row: { place: 1 }, kind: 'duplicate_key', columns: ['shelf_id', 'place'] },
  { what: 'a foreign key', row: { shelf: 77 }, kind: 'foreign_key' },
  { what: 'null', row: { slug: null }, kind: 'not_null', columns: ['slug'] },
  { what: 'a check', row: { pages: 0 }, kind: 'check' },
  { what: 'a long string', row: { slug: 'x'.repeat(99) }, kind: 'too_long', except: SQLITES },
  { what: 'a large number', row: { pages: 1e9 }, kind: 'out_of_range', except: SQLITES },
  { what: 'a word as a number', row: { pages: 'word' }, kind: 'invalid_value', except: SQLITES },
  { what: 'U+0000', row: { slug: 'a\0' }, kind: 'invalid_text', except: ['SQLite', ...MARIADBS] },
]

/** Ways to run a statement that writes a row. */
const WAYS: Readonly<Record<string, (source: DataSource, row: Book) => Promise<unknown>>> = {
  'a repository': (source, row) => source.getRepository(Books).insert({ ...row }),
  'save()': (source, row) => source.getRepository(Books).save({ ...row }, { reload: false }),
  'a query builder': (source, row) =>
    source
      .createQueryBuilder()
      .insert()
      .into(Books)
      .values({ ...row })
      .execute(),
  'a raw query': (source, row) => insertRaw(source, row),
  'a transaction': (source, row) => source.transaction((manager) => manager.insert(Books, { ...row })),
  'a batch': (source, row) =>
    source.getRepository(Books).insert([{ ...GOOD, id: 9, slug: 'nine', place: 9 }, { ...row }]),
  'an update': async (source, { id, ...row }) => {
    await source.getRepository(Books).insert({ ...GOOD, id: 3, slug: 'three', place: 3 })
    return await source.getRepository(Books).update({ id: 3 }, id === 1 ? { id } : row)
  },
}

for (const [kind, prepare] of Object.entries(KINDS_AND_DRIVERS))
  describe(`violation on ${kind}`, () => {
    const place = prepare('suite')
    let source: DataSource

    before(async () => {
      source = await place().open([Shelves, Books, Days])
      await source.synchronize()
      // TypeORM makes no checks on MariaDB.
      if (MARIADBS.includes(kind))
        await source.query('alter table books add constraint books_pages check (pages > 0)')
      await source.getRepository(Shelves).insert({ id: 1, name: 'one' })
    })

    beforeEach(async () => {
      await source.getRepository(Books).clear()
      await source.getRepository(Books).insert({ ...GOOD, id: 1, slug: "a' for key 'x", place: 1 })
    })

    for (const [way, write] of Object.entries(WAYS))
      it(`names the kind of each refused value through ${way}`, async () => {
        for (const { what, row, kind: expected, columns, except = [] } of CASES) {
          if (except.includes(kind) || (way === 'save()' && what === 'a primary key')) continue
          const error = await failure(write(source, { ...GOOD, ...row }), what)
          const found = violation(error)
          expect(found?.kind, `${what}: ${String(error)}`).to.equal(expected)
          if (columns) expect(found?.columns, what).to.have.members(columns)
          if (columns) expect(found?.table, what).to.equal('books')
          expect(JSON.stringify(found), what).to.not.match(/for key|77|xxx|word/)
          await source.getRepository(Books).delete({ id: 3 })
        }
      })

    it('finds a duplicate key by its columns in any order, and by the name of its index', async () => {
      const slug = await failure(WAYS['a repository']!(source, { ...GOOD, slug: "a' for key 'x" }))
      expect(duplicateKey(slug)).to.include({ kind: 'duplicate_key', table: 'books' })
      expect(duplicateKey(slug, 'slug')).to.have.property('kind')
      for (const other of [['place'], ['slug', 'place'], ['id']])
        expect(duplicateKey(slug, ...other)).to.equal(undefined)
      const both = await failure(WAYS['a repository']!(source, { ...GOOD, place: 1 }))
      expect(duplicateKey(both, 'place', 'shelf_id')).to.have.property('kind')
      expect(duplicateKey(both, 'place')).to.equal(undefined)
      if (!kind.startsWith('SQLite')) expect(duplicateKey(both, 'books_place')).to.have.property('kind')
    })

    it('names the columns of a key that several tables have under one name', async () => {
      const row = { day: 3 }
      await source.getRepository(Days).insert(row)
      const error = await failure(source.getRepository(Days).insert(row))
      expect(violation(error)).to.deep.include({ table: 'days', columns: ['day'] })
    })

    it('finds the violation of an error that is the cause of another one', async () => {
      const cause = await failure(WAYS['a repository']!(source, { ...GOOD, id: 1 }))
      expect(duplicateKey(new Error('The book cannot be stored.', { cause }), 'id')).to.have.property('kind')
    })

    it('names the constraint of a row that other rows need, and of a deleted row', async () => {
      const error = await failure(source.query(`delete from ${pathOf(source, Shelves)} where id = 1`))
      expect(violation(error)?.kind).to.equal('foreign_key')
      if (!kind.startsWith('SQLite')) expect(violation(error)).to.have.property('table', 'books')
    })

    it('returns nothing for a missing table, a syntax error and a lost connection', async () => {
      const errors = [
        await failure(source.query('select * from nothing_such')),
        await failure(source.query('selekt')),
        Object.assign(new Error('lost'), { code: 'ECONNRESET' }),
        'UNIQUE constraint failed: books.slug',
        undefined,
        new Error('UNIQUE constraint failed: books.slug'),
      ]
      expect(errors.map(violation)).to.eql(errors.map(() => undefined))
    })

    it('names a value that a compiled query cannot compare', async () => {
      const find = query(Books, { where: { slug: param('slug') } })
      const outcome = await find.all(source, { slug: 'a\0' }).catch(violation)
      const expected = kind === 'PostgreSQL' || kind === 'SQLite by libsql' ? { kind: 'invalid_text' } : []
      expect(outcome).to.eql(expected)
    })

    for (const environment of ['production', 'development'] as const)
      it(`shows how to handle a refused value in development only, here in ${environment}`, async () => {
        const app = appOf(place(), environment)
        const post = (url: string) => app.inject({ method: 'POST', url, payload: {} })
        const bare = await post('/bare')
        expect(bare.statusCode).to.equal(500)
        expect(bare.body).to.not.include('for key')
        if (environment === 'production') expect(bare.json()).to.include({ code: 'internal_error' })
        else expect(bare.json().detail).to.include("if (duplicateKey(error, 'slug')) throw new Conflict(…)")
        expect((await post('/caught')).json()).to.include({ status: 409, detail: 'The slug is taken.' })
        const text = await post('/text')
        const stores = kind === 'SQLite' || MARIADBS.includes(kind)
        expect([text.statusCode, text.json().code]).to.eql(stores ? [200, undefined] : [422, 'invalid_text'])
        await app.close()
      })
  })

/** Errors that the tests above cannot cause, with the members that the drivers set. */
const SHAPES: readonly (readonly [error: object, found: Violation])[] = [
  [
    {
      errno: 1062,
      message: "Duplicate entry 'it''s' for key 'books.slug'",
      sql: 'INSERT INTO `books` (`slug`)',
    },
    { kind: 'duplicate_key', table: 'books', constraint: 'slug' },
  ],
  [
    {
      errno: 3819,
      message: "Check constraint 'books_pages' is violated.",
      sql: 'update app.books set pages = 0',
    },
    { kind: 'check', table: 'books', constraint: 'books_pages' },
  ],
  [
    {
      code: '23P01',
      table: 'bookings',
      constraint: 'no_overlap',
      detail: 'Key (a)=(1) conflicts with (a)=(2).',
    },
    { kind: 'exclusion', table: 'bookings', constraint: 'no_overlap' },
  ],
  [
    {
      code: '23505',
      table: 'a',
      constraint: 'a_b',
      detail: 'Key (lower(b::text), "c, d", "an ""e""")=(x), (y)=(z, 1, 2) exists.',
    },
    { kind: 'duplicate_key', table: 'a', columns: ['lower(b::text)', 'c, d', 'an "e"'], constraint: 'a_b' },
  ],
  [
    { code: '23505', table: 'a', constraint: 'a_b' },
    { kind: 'duplicate_key', table: 'a', constraint: 'a_b' },
  ],
  [
    { code: 'SQLITE_CONSTRAINT_UNIQUE', message: "UNIQUE constraint failed: index 'books_lower'" },
    { kind: 'duplicate_key', constraint: 'books_lower' },
  ],
  [
    { code: 'SQLITE_CONSTRAINT_DATATYPE', message: 'cannot store TEXT value in INTEGER column books.pages' },
    { kind: 'invalid_value' },
  ],
]

describe('violation', () => {
  for (const [error, found] of SHAPES)
    it(`reads ${JSON.stringify(error)}`, () => {
      expect(violation(Object.assign(new Error('failed'), { driverError: error }))).to.eql(found)
    })

  it('counts a node of Galera outside its cluster as unavailable, and a changed row of MariaDB as busy', () => {
    const faults = ['ER_UNKNOWN_COM_ERROR', 'ER_CHECKREAD'].map((code) =>
      databaseFaultOf({ code, message: '' }),
    )
    expect(faults).to.eql(['unavailable', 'busy'])
  })

  it('ends for an error that is its own cause', () => {
    const error = new Error('circle')
    error.cause = error
    expect(violation(error)).to.equal(undefined)
  })

  for (const [what, unreadable] of Object.entries({
    'an unreadable error': UNREADABLE,
    'an error with an unreadable cause': new Error('x', { cause: UNREADABLE }),
    'an error of an unreadable driver': Object.assign(new Error('x'), { driverError: UNREADABLE }),
  })) {
    it(`finds no reason in ${what}`, () => {
      for (const reader of [violation, duplicateKey, missingTable, missingColumn, databaseFaultOf, isOutage])
        expect(reader(unreadable) || undefined, reader.name).to.equal(undefined)
    })

    for (const environment of ['production', 'development'] as const)
      it(`leaves ${what} to the log of the request in ${environment}`, async () => {
        const lines: unknown[] = []
        const logger = { ...silent, error: (line: unknown) => void lines.push(line), child: () => logger }
        const router = createRouter().get('/', () => {
          throw unreadable
        })
        const options = { type: 'better-sqlite3', database: ':memory:' } as const
        const app = createApp({ environment, logger: logger as Logger })
          .use(database(options, { pendingMigrations: 'ignore' }))
          .use(router)
        try {
          expect((await app.inject('/')).statusCode).to.equal(500)
          expect(lines.map((line) => (line as { err: unknown }).err)).to.deep.equal([
            describeError(unreadable),
          ])
        } finally {
          await app.close()
        }
      })
  }
})

function appOf(place: TestDatabase, environment: 'production' | 'development') {
  const router = createRouter()
  const insert = async (ctx: object, row: object) =>
    await (ctx as { db: DataSource }).db.getRepository(Books).insert({ ...GOOD, ...row })
  router.post('/bare', (ctx) => insert(ctx, { slug: "a' for key 'x" }))
  router.post('/caught', async (ctx) => {
    try {
      return await insert(ctx, { slug: "a' for key 'x" })
    } catch (error) {
      if (duplicateKey(error, 'slug')) throw new Conflict('The slug is taken.', { cause: error })
      throw error
    }
  })
  router.post('/text', async (ctx) => {
    await insert(ctx, { id: 4, slug: 'a\0', place: 4 })
    return {}
  })
  const options = place.options([Shelves, Books])
  return createApp({ environment, logger: silent })
    .use(database(options, { pendingMigrations: 'ignore' }))
    .use(router)
}

async function insertRaw(source: DataSource, row: Book): Promise<unknown> {
  const names = ['id', 'slug', 'shelf_id', 'place', 'pages']
  const values = [row.id, row.slug, row.shelf, row.place, row.pages]
  const marks = names.map((name, index) => source.driver.createParameter(name, index))
  return await source.query(
    `INSERT INTO ${pathOf(source, Books)} (${names.join(', ')}) VALUES (${marks.join(', ')})`,
    values,
  )
}

const pathOf = (source: DataSource, entity: EntitySchema): string => source.getMetadata(entity).tablePath

/** Waits for the error of a statement. */
async function failure(work: Promise<unknown>, what = 'the statement was accepted'): Promise<unknown> {
  const stored = Symbol('stored')
  const outcome = await work.then(
    () => stored,
    (error: unknown) => error,
  )
  expect(outcome, what).to.not.equal(stored)
  return outcome
}

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent } as Logger
