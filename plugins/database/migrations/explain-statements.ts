import type { HttpError, Middleware } from 'mortar'
import { describeError, isHttpError, missingColumn, missingTable } from 'mortar/kit'
import { problem } from '../problems.ts'
import { type Violation, violation } from '../failures/violation.ts'

/** Remedy for a missing table. */
export const MISSING_TABLE_REMEDY =
  'Run the pending migrations (`npx mortar migrate run`). If none is pending, export its EntitySchema from the schema module, then generate and run a migration.'

/** Remedy for a missing column. */
export const MISSING_COLUMN_REMEDY =
  "If the entity has it, the database is older than the schema module: generate a migration and run it (`npx mortar migrate generate 'what changed'`, `npx mortar migrate run`). Otherwise correct the name in the query."

/**
 * Returns the 422 for a string that the database cannot store, such as one with U+0000 on PostgreSQL. Such a string
 * nearly always comes from the request. Undefined for any other error.
 */
export function explainInvalidText(error: unknown): HttpError | undefined {
  if (violation(error)?.kind !== 'invalid_text') return undefined
  return problem('invalid_text', 'A string contains a character that the database cannot store.', {
    cause: error,
  })
}

/**
 * Adds the remedy to the problem of a statement that failed because of a missing table or column, an unknown entity, or
 * a value that the database refuses. The brick uses it outside production: in production the error stays a 500 without
 * details, and no request pays for the middleware.
 */
export const explainStatements: Middleware = async (_ctx, next) => {
  try {
    return await next()
  } catch (error) {
    throw explained(error) ?? error
  }
}

function explained(error: unknown): Error | undefined {
  const table = missingTable(error)
  if (table !== undefined)
    return problem('missing_table', `no such table: ${table}. ${MISSING_TABLE_REMEDY}`, { cause: error })
  const entity = unknownEntity(error)
  if (entity !== undefined)
    return new Error(
      `The entity ${entity} is not among the \`entities\` of database(). Export its EntitySchema from the schema module, or add it to \`entities\`.`,
      { cause: error },
    )
  const column = missingColumn(error)
  if (column !== undefined)
    return problem('missing_column', `no such column: ${column}. ${MISSING_COLUMN_REMEDY}`, { cause: error })
  // The application has decided on a status if the refused statement is only the cause of its error.
  const refused = isHttpError(error) ? undefined : violation(error)
  return refused && refused.kind !== 'invalid_text'
    ? problem('value_refused', describe(refused), { cause: error })
    : undefined
}

/** Returns the entity that TypeORM does not know, or undefined for any other error. */
function unknownEntity(error: unknown): string | undefined {
  const { type, message } = describeError(error)
  return type === 'EntityMetadataNotFoundError' ? /"(.+)"/.exec(message)?.[1] : undefined
}

/** Names the reason and how to respond with another status. It has no values. */
function describe({ kind, table, columns, constraint }: Violation): string {
  const names = [
    table && `table ${table}`,
    columns && `${columns.length === 1 ? 'column' : 'columns'} ${columns.join(', ')}`,
    constraint && `constraint ${constraint}`,
  ].filter(Boolean)
  const place = names.length > 0 ? ` (${names.join(', ')})` : ''
  const keys = (columns ?? (constraint === undefined ? [] : [constraint])).map((name) => `, '${name}'`)
  const test =
    kind === 'duplicate_key' ? `duplicateKey(error${keys.join('')})` : `violation(error)?.kind === '${kind}'`
  const remedy = kind === 'duplicate_key' ? 'throw new Conflict(…)' : 'throw an HttpError'
  return `The database refused a value: ${kind}${place}. To send another status than 500, catch the error: if (${test}) ${remedy}. Both functions are in mortar/database.`
}
