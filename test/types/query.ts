import { type DataSource, type EntityManager, type EntitySchema, LessThan, Like, Not } from 'typeorm'
import { param, query } from '@mortar/database'
import { type Equal, expectType } from './expect-type.ts'

interface Note {
  id: string
  owner_id: string
  title: string
  archived: boolean
  size: number
  read_at: Date | null
  place: { city: string; floor: number | null }
}

declare const Notes: EntitySchema<Note>
declare const db: DataSource
declare const manager: EntityManager

// Parameters have the types of their columns, and those of `limit` and `offset` are numbers.
const list = query(Notes, {
  where: { owner_id: param('owner'), archived: param('archived'), read_at: LessThan(param('before')) },
  order: { size: 'DESC', place: { city: 'asc' } },
  limit: param('limit'),
  offset: param('offset'),
})
const values = { owner: 'a', archived: false, before: new Date(), limit: 20, offset: 0 }
expectType<Equal<Awaited<ReturnType<typeof list.all>>, Note[]>>()
expectType<Equal<Awaited<ReturnType<typeof list.one>>, Note | null>>()
expectType<Equal<Awaited<ReturnType<typeof list.count>>, number>>()
void list.all(db, values)
void list.page(manager, values)
void list.count(db, { owner: 'a', archived: false, before: new Date() })
void list.count(db, values)

// @ts-expect-error the parameter `owner` is missing
void list.all(db, { archived: false, before: new Date(), limit: 20, offset: 0 })
// @ts-expect-error `archived` is a boolean
void list.all(db, { ...values, archived: 'no' })
// @ts-expect-error `before` is a Date
void list.all(db, { ...values, before: 7 })
// @ts-expect-error a parameter is never null, which no row would equal
void list.all(db, { ...values, before: null })
// @ts-expect-error a limit is a number
void list.all(db, { ...values, limit: '20' })
// @ts-expect-error the parameters are missing
void list.all(db)

// A query without parameters accepts none.
const all = query(Notes)
void all.all(db)
void query(Notes, { where: { owner_id: 'a', place: { floor: null, city: Not('b') } }, limit: 3 }).all(db)
// @ts-expect-error there is no parameter
void all.all(db, { owner: 'a' })

// The parameters of an embedded object, and of an operator in another.
const placed = query(Notes, { where: { place: { city: Not(Like(param('pattern'))) } } })
void placed.all(db, { pattern: 'a%' })
// @ts-expect-error a pattern is a string
void placed.all(db, { pattern: 7 })

// A selection.
const titles = query(Notes, { select: { id: true, title: true } })
expectType<Equal<Awaited<ReturnType<typeof titles.all>>, Pick<Note, 'id' | 'title'>[]>>()

// @ts-expect-error the entity has no such property
query(Notes, { where: { owner: param('owner') } })
// @ts-expect-error the entity has no such property
query(Notes, { select: { nmae: true } })
// @ts-expect-error the entity has no such property
query(Notes, { order: { nmae: 'ASC' } })
// @ts-expect-error the column is a string
query(Notes, { where: { owner_id: 7 } })
// @ts-expect-error no such direction
query(Notes, { order: { size: 'up' } })
