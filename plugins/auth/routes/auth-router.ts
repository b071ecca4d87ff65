import { createRouter, HttpError, type Context, type Next, type Router } from 'mortar'
import { MissingColumn, MissingTable } from '../errors.ts'

/** Creates a router for endpoints about accounts. */
export function authRouter(): Router {
  return createRouter({ tags: ['auth'] })
    .use(noStore)
    .use(explainMissingTable)
}

/** Responses about accounts, errors included, are not cached (ASVS 14.3.2). */
export function noStore(ctx: Context, next: Next): unknown {
  ctx.set('Cache-Control', 'no-store')
  return next()
}

/** The database brick declares these codes; a provider with a connection of its own also works without that brick. */
const MISSING_TABLE = {
  code: 'missing_table',
  title: 'Missing table',
  type: 'urn:mortar:problem:missing_table',
} as const

const MISSING_COLUMN = {
  code: 'missing_column',
  title: 'Missing column',
  type: 'urn:mortar:problem:missing_column',
} as const

/** An operator's error: shown in full outside production, and logged in every environment. */
function explainMissingTable(ctx: Context, next: Next): Promise<unknown> {
  return next().catch((error: unknown) => {
    const isColumn = error instanceof MissingColumn
    if (!isColumn && !(error instanceof MissingTable)) throw error
    const isProduction = ctx.services['environment'] === 'production'
    const detail = isProduction
      ? `A ${isColumn ? 'column' : 'table'} of the auth brick is missing in the database. See the log.`
      : error.message
    throw new HttpError(500, detail, {
      ...(isColumn ? MISSING_COLUMN : MISSING_TABLE),
      cause: error,
    })
  })
}
