import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import {
  type DataSource,
  type EntityManager,
  EntitySchema,
  In,
  IsNull,
  LessThan,
  LessThanOrEqual,
  Like,
  MoreThan,
  MoreThanOrEqual,
  Not,
  QueryFailedError,
  Raw,
} from 'typeorm'
import { createDataSource, missingTable, param, query } from '@mortar/database'
import { KINDS, KINDS_AND_DRIVERS } from './databases.ts'

interface Task {
  id: number
  owner: string
  title: string
  doneAt: Date | null
}

const Tasks = new EntitySchema<Task>({
  name: 'tasks',
  columns: {
    id: { type: Number, primary: true },
    owner: { type: String, name: 'owner_id' },
    title: { type: String },
    doneAt: { type: Date, precision: 3, name: 'done_at', nullable: true },
  },
})

const listed = query(Tasks, {
  where: { owner: param('owner') },
  order: { id: 'ASC' },
  limit: param('limit'),
  offset: param('offset'),
})
const byId = query(Tasks, { where: { id: param('id') } })

const DONE = new Date('2026-03-01T10:00:00.123Z')

const ids = (rows: readonly { id: number }[]): number[] => rows.map(({ id }) => id)

for (const [kind, place] of Object.entries(KINDS_AND_DRIVERS))
  describe(`query() on ${kind}`, () => {
    const database = place('suite')
    let db: DataSource
    before(async () => {
      db = await database().open([Tasks])
      await db.synchronize()
      for (let id = 1; id <= 7; id++)
        await db.manager.insert(Tasks, {
          id,
          owner: id === 7 ? 'b' : 'a',
          title: `Task ${id}`,
          doneAt: id % 2 ? null : DONE,
        })
    })

    it('reads rows as plain objects, by the names of their properties', async () => {
      const [row] = await listed.all(db, { owner: 'a', limit: 1, offset: 1 })
      expect(row).to.eql({ id: 2, owner: 'a', title: 'Task 2', doneAt: DONE })
      expect(Object.getPrototypeOf(row)).to.equal(Object.prototype)
    })

    it('returns the first row or null', async () => {
      expect(await byId.one(db, { id: 3 })).to.include({ title: 'Task 3' })
      expect(await byId.one(db, { id: 99 })).to.equal(null)
    })

    it('returns the first row of a page, or null', async () => {
      expect(await listed.one(db, { owner: 'a', limit: 2, offset: 3 })).to.include({ id: 4 })
      for (const [limit, offset] of [
        [0, 0],
        [2, 60],
      ] as const)
        expect(await listed.one(db, { owner: 'a', limit, offset })).to.equal(null)
    })

    it('counts without limit and offset', async () => {
      expect(await listed.count(db, { owner: 'a' })).to.equal(6)
      expect(await listed.count(db, { owner: 'c' })).to.equal(0)
    })

    for (const [limit, offset] of [
      [4, 0],
      [4, 4],
      [6, 0],
      [9, 0],
      [4, 60],
    ] as const)
      it(`returns the total with ${limit} rows from ${offset}`, async () => {
        const page = await listed.page(db, { owner: 'a', limit, offset })
        expect(ids(page.rows)).to.eql([1, 2, 3, 4, 5, 6].slice(offset, offset + limit))
        expect(page.total).to.equal(6)
      })

    it('compares with the operators of TypeORM, and with null', async () => {
      const found = async (where: object) => ids(await query(Tasks, { where, order: { id: 'ASC' } }).all(db))
      expect(await found({ id: LessThan(3) })).to.eql([1, 2])
      expect(await found({ id: LessThanOrEqual(2) })).to.eql([1, 2])
      expect(await found({ id: MoreThan(6) })).to.eql([7])
      expect(await found({ id: MoreThanOrEqual(6) })).to.eql([6, 7])
      expect(await found({ id: MoreThanOrEqual(6), owner: Not('a') })).to.eql([7])
      expect(await found({ id: In([2, 5, 9]) })).to.eql([2, 5])
      expect(await found({ id: In([]) })).to.eql([])
      expect(await found({ title: Like('%k 4') })).to.eql([4])
      expect(await found({ doneAt: null, id: LessThan(4) })).to.eql([1, 3])
      expect(await found({ doneAt: Not(IsNull()), id: Not(LessThan(4)) })).to.eql([4, 6])
      expect(await found({ doneAt: DONE, id: LessThan(4) })).to.eql([2])
    })

    it('accepts parameters inside operators', async () => {
      const before = query(Tasks, {
        where: { id: LessThan(param('before')) },
        order: { id: 'DESC' },
        limit: 2,
      })
      expect(ids(await before.all(db, { before: 5 }))).to.eql([4, 3])
    })

    it('binds a value that looks like SQL', async () => {
      expect(await listed.all(db, { owner: `a' or 1=1 --`, limit: 9, offset: 0 })).to.eql([])
    })

    it('reads in the transaction of a manager, whose rows are invisible outside', async () => {
      const outside = async () => (await listed.page(db, { owner: 't', limit: 9, offset: 0 })).total
      let waiting: Promise<number> | undefined
      const inside = await db.transaction(async (manager) => {
        await manager.insert(Tasks, { id: 50, owner: 't', title: 'new', doneAt: null })
        const { total } = await listed.page(manager, { owner: 't', limit: 9, offset: 0 })
        waiting = Promise.resolve(total)
        await manager.delete(Tasks, { id: 50 })
        return total
      })
      expect([inside, await waiting, await outside()]).to.eql([1, 1, 0])
    })

    it('fails like a query runner for a table that is missing', async () => {
      const Lost = new EntitySchema<{ id: number }>({
        name: 'lost',
        columns: { id: { type: Number, primary: true } },
      })
      const source = await database().open([Lost])
      const logged: string[] = []
      source.logger.logQueryError = (_error, sql) => void logged.push(sql)
      const error: unknown = await query(Lost)
        .all(source)
        .catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(QueryFailedError)
      expect(missingTable(error)).to.equal('lost')
      expect(logged).to.have.length(1)
      expect(logged[0]).to.include('lost')
    })

    it('notifies the log of slow queries', async () => {
      const slow: string[] = []
      // No query takes less than no time.
      const options = { ...database().options([Tasks]), maxQueryExecutionTime: -1 }
      const source = createDataSource(options)
      source.logger.logQuerySlow = (_time, sql) => void slow.push(sql)
      await source.initialize()
      expect(await byId.one(source, { id: 1 })).to.include({ id: 1 })
      await source.destroy()
      expect(slow.filter((sql) => sql.includes('tasks'))).to.have.length(1)
    })

    it('notifies subscribers', async () => {
      const heard: string[] = []
      const source = await database().open([Tasks])
      source.subscribers.push({ beforeQuery: ({ query: sql }) => void heard.push(sql) })
      expect(await byId.one(source, { id: 1 })).to.include({ id: 1 })
      expect(heard).to.have.length(1)
      expect(heard[0]).to.match(/^SELECT .+ FROM .+tasks.+ LIMIT 1$/)
    })

    it('rejects a missing value, and a limit that is not an integer', async () => {
      const message = (values: object) =>
        (listed.all as (source: DataSource, values: object) => Promise<unknown>)(db, values).then(
          () => 'no error',
          (error: Error) => error.message,
        )
      expect(await message({ limit: 1, offset: 0 })).to.match(
        /^The parameter 'owner' of the column 'owner' is undefined/,
      )
      expect(await message({ owner: null, limit: 1, offset: 0 })).to.match(
        /is null\. Give a value, or write where/,
      )
      for (const owner of [['a', 'b'], [], {}, { a: 1 }, Object.create(null), () => 'a'])
        expect(await message({ owner, limit: 1, offset: 0 })).to.match(
          /^The parameter 'owner' .+ Give one value\.$/,
        )
      for (const owner of [0, true])
        expect(await message({ owner, limit: 1, offset: 0 })).to.match(
          /^The parameter 'owner' .+ Give a string\.$/,
        )
      expect(await message({ owner: new Date(Number.NaN), limit: 1, offset: 0 })).to.match(
        /^The parameter 'owner' of the column 'owner' is an invalid date\.$/,
      )
      for (const limit of [-1, 1.5, '1; drop table tasks', undefined, Number.NaN])
        expect(await message({ owner: 'a', limit, offset: 0 })).to.match(
          /^limit is .+ A limit is a whole number/,
        )
    })

    it('reads again after the connection was closed and reopened', async () => {
      const source = await database().open([Tasks])
      expect(await byId.one(source, { id: 1 })).to.include({ id: 1 })
      await source.destroy()
      await source.initialize()
      expect(await byId.one(source, { id: 1 })).to.include({ id: 1 })
    })
  })

describe('query() beside transactions on SQLite', () => {
  const database = KINDS_AND_DRIVERS['SQLite']!()
  let db: DataSource
  beforeEach(async () => {
    db = await database().open([Tasks])
    await db.synchronize()
  })

  const add = (manager: EntityManager, id: number) =>
    manager.insert(Tasks, { id, owner: 'a', title: 'x', doneAt: null })

  it('waits for a transaction of another caller', async () => {
    const transaction = db.transaction(async (manager) => {
      await add(manager, 1)
      await nextTurn()
      throw new Error('rolled back')
    })
    await Promise.resolve()
    const [count] = await Promise.all([query(Tasks).count(db), transaction.catch(() => undefined)])
    expect(count).to.equal(0)
  })

  it('is rejected inside a transaction that it would wait for', async () => {
    const refused = db.transaction(async (manager) => {
      await add(manager, 1)
      await query(Tasks).all(db)
    })
    const message = await refused.catch((error: Error) => error.message)
    expect(message).to.match(/^A query on the DataSource inside a transaction would wait/)
  })
})

describe('query() on PostgreSQL', () => {
  const database = KINDS_AND_DRIVERS['PostgreSQL']!()

  const CAUSES = {
    'a pooler removed them': 'deallocate all',
    'a migration has changed the type of a column': 'alter table TASKS alter column title type text',
  }
  for (const [cause, statement] of Object.entries(CAUSES))
    it(`continues without prepared statements if ${cause}`, async () => {
      const db = await database().open([Tasks])
      await db.synchronize()
      const warnings: unknown[] = []
      const listen = (warning: Error & { code?: string }) => warnings.push(warning.code)
      process.on('warning', listen)
      await byId.one(db, { id: 1 })
      await db.query(statement.replace('TASKS', db.getMetadata(Tasks).tablePath))
      expect(await byId.one(db, { id: 1 })).to.equal(null)
      expect(await byId.one(db, { id: 1 })).to.equal(null)
      await nextTurn()
      process.off('warning', listen)
      expect(warnings).to.eql(['MORTAR_UNPREPARED'])
    })
})

describe('query() on columns with unusual names and types', () => {
  const database = KINDS['SQLite']!()
  // TypeScript gives every object a `constructor`, so the type of the entity is open.
  const Plans = new EntitySchema<Record<string, unknown>>({
    name: 'plans',
    columns: {
      id: { type: Number, primary: true },
      constructor: { type: String },
      active: { type: Boolean },
    },
  })

  it('reads and compares a property that is named constructor', async () => {
    const db = await database().open([Plans])
    await db.synchronize()
    await db.query("insert into plans values (1, 'Ada', 1)")
    const found = query(Plans, { where: { constructor: param('constructor') } })
    expect(await found.all(db, { constructor: 'Ada' })).to.eql([{ id: 1, constructor: 'Ada', active: true }])
    const missing = await found.all(db, {}).catch((error: Error) => error.message)
    expect(missing).to.include('is undefined')
  })

  it('rejects a value of another type than its column', async () => {
    const db = await database().open([Plans])
    await db.synchronize()
    const byActive = query(Plans, { where: { active: param('active') } })
    const byKey = query(Plans, { where: { id: param('id') } })
    const message = (work: Promise<unknown>) =>
      work.then(
        () => 'no error',
        (error: Error) => error.message,
      )
    for (const active of ['true', 1, 'false'])
      expect(await message(byActive.all(db, { active }))).to.match(/'active' .+ Give true or false\.$/)
    for (const id of ['one', true, '1 or 1'])
      expect(await message(byKey.all(db, { id }))).to.match(/'id' .+ Give a number\.$/)
    for (const id of [1, '1', 1n]) expect(await byKey.all(db, { id })).to.eql([])
  })
})

describe('query() refuses', () => {
  const database = KINDS_AND_DRIVERS['SQLite']!()
  const Plain = { id: { type: Number, primary: true } } as const

  async function refusal(given: EntitySchema<never>, options: object = {}, others: EntitySchema[] = []) {
    const db = await database().open([given, ...others])
    const made = query(given, options as never) as { all(db: DataSource): Promise<unknown> }
    return made.all(db).then(
      () => 'no error',
      (error: Error) => error.message,
    )
  }
  const refused = (columns: object, options: object = {}, more: object = {}, others: EntitySchema[] = []) =>
    refusal(
      new EntitySchema({ name: 'things', columns: { ...Plain, ...columns }, ...more } as never),
      options,
      others,
    )

  it('a column that the entity does not have, and names its columns', async () => {
    const expected = `query(things) cannot be compiled: it has no column 'nmae', only id, name. Use getRepository(things) for it.`
    const name = { name: { type: String } }
    expect(await refused(name, { where: { nmae: 'x' } })).to.equal(expected)
    expect(await refused(name, { order: { nmae: 'ASC' } })).to.equal(expected)
    expect(await refused(name, { select: { nmae: true } })).to.equal(expected)
  })

  it('relations that are read or compared', async () => {
    const Owners = new EntitySchema({ name: 'owners', columns: { ...Plain } })
    const relation = (more: object) => ({
      relations: { owner: { type: 'many-to-one', target: 'owners', ...more } },
    })
    expect(await refused({}, {}, relation({ eager: true }), [Owners])).to.include('an eager or lazy relation')
    expect(await refused({}, { where: { owner: 1 } }, relation({}), [Owners])).to.include(
      `'owner' is a relation`,
    )
  })

  it('objects of a class, virtual columns, other operators and another direction', async () => {
    const Thing = class things {
      id = 0
    }
    const part = {
      schema: new EntitySchema({ name: 'part', target: Thing, columns: { a: { type: Number } } } as never),
    }
    for (const more of [{ target: Thing }, { embeddeds: { part } }])
      expect(await refused({}, {}, more)).to.include('objects of a class')
    const virtual = {
      twice: { type: Number, virtualProperty: true, query: (alias: string) => `2 * ${alias}.id` },
    }
    expect(await refused(virtual)).to.include('virtual column')
    expect(await refused({}, { where: { id: Raw('1') } })).to.include(
      `the condition of 'id' is the operator 'raw'`,
    )
    expect(await refused({}, { order: { id: 'up; drop table' } })).to.include(`the direction of 'id' is`)
    expect(await refused({}, { offset: 3 })).to.include('an offset but no limit')
    expect(await refused({}, { where: { id: undefined } })).to.include(`the condition of 'id' is undefined`)
  })

  for (const [listens, subscriber] of Object.entries({
    'to every entity': {},
    'to Object, which is every entity too': { listenTo: () => Object },
    'to the entity': { listenTo: () => 'tasks' },
  }))
    it(`an entity whose rows a subscriber changes as they are loaded, which listens ${listens}`, async () => {
      const db = await database().open([Tasks])
      db.subscribers.push({ listenTo: () => 'other', afterLoad: () => undefined })
      await db.synchronize()
      expect(await query(Tasks).all(db)).to.eql([])
      db.subscribers.push({ ...subscriber, afterLoad: () => undefined })
      const message = await query(Tasks)
        .all(db)
        .catch((error: Error) => error.message)
      expect(message).to.include('a listener or a subscriber has afterLoad')
    })
})
