import type { Statement } from './migration-file.ts'

/*
 * SQLite cannot add a foreign key to a table, so TypeORM makes each new table without them, and then rebuilds it: it
 * makes a second table, copies the rows, drops the first and renames the second. A table that the same migration makes
 * has no rows, so one statement is enough. Test: test/plugins/database/readable-migrations.test.ts
 */

const CREATE = /^CREATE TABLE "([^"]+)" /
const CREATE_INDEX = /^CREATE (?:UNIQUE )?INDEX "([^"]+)"/
const DROP_INDEX = /^DROP INDEX "([^"]+)"/
const PREFIX = 'temporary_'

/** Replaces each rebuild of a table that the same statements make, so that the table is made in its last form. */
export function leaveOutRebuilds(statements: readonly Statement[]): readonly Statement[] {
  const kept: Statement[] = []
  const made = new Map<string, Statement>()
  for (let at = 0; at < statements.length; at++) {
    const statement = statements[at]!
    const table = CREATE.exec(statement.query)?.[1]
    const name = table?.startsWith(PREFIX) === true ? table.slice(PREFIX.length) : undefined
    const first = name === undefined ? undefined : made.get(name)
    if (first !== undefined && isRebuild(statements.slice(at, at + 4), name!)) {
      const last = { ...statement, query: statement.query.replace(`"${PREFIX}${name}"`, `"${name}"`) }
      kept[kept.indexOf(first)] = last
      made.set(name!, last)
      at += 3
    } else {
      if (table !== undefined) made.set(table, statement)
      kept.push(statement)
    }
  }
  return withoutDroppedIndices(kept)
}

/** Leaves out the rebuilds of tables that the same statements drop, in the form that they have when undone. */
export function leaveOutRebuildsBeforeDrop(statements: readonly Statement[]): readonly Statement[] {
  const kept: Statement[] = []
  for (let at = 0; at < statements.length; at++) {
    const name = /^ALTER TABLE "([^"]+)" RENAME TO "temporary_/.exec(statements[at]!.query)?.[1]
    const four = statements.slice(at, at + 4)
    const isDropped = statements.some(({ query }, later) => later > at && query === `DROP TABLE "${name}"`)
    if (name !== undefined && isDropped && isUndoneRebuild(four, name)) at += 3
    else kept.push(statements[at]!)
  }
  return withoutDroppedIndices(kept)
}

/** True for the four statements of one rebuild. */
function isRebuild([, insert, drop, rename]: readonly Statement[], name: string): boolean {
  return (
    insert?.query.startsWith(`INSERT INTO "${PREFIX}${name}"`) === true &&
    drop?.query === `DROP TABLE "${name}"` &&
    rename?.query === `ALTER TABLE "${PREFIX}${name}" RENAME TO "${name}"`
  )
}

function isUndoneRebuild([, create, insert, drop]: readonly Statement[], name: string): boolean {
  return (
    create?.query.startsWith(`CREATE TABLE "${name}" `) === true &&
    insert?.query.startsWith(`INSERT INTO "${name}"`) === true &&
    drop?.query === `DROP TABLE "${PREFIX}${name}"`
  )
}

/** Leaves out the pairs that make an index and drop it again. */
function withoutDroppedIndices(statements: readonly Statement[]): readonly Statement[] {
  const made = new Map<string, Statement>()
  const left = new Set(statements)
  for (const statement of statements) {
    const dropped = DROP_INDEX.exec(statement.query)?.[1]
    const before = dropped === undefined ? undefined : made.get(dropped)
    if (before !== undefined) {
      left.delete(before)
      left.delete(statement)
      made.delete(dropped!)
    }
    const name = CREATE_INDEX.exec(statement.query)?.[1]
    if (name !== undefined) made.set(name, statement)
  }
  return [...left]
}
