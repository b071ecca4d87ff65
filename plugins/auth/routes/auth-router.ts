import { createRouter, HttpError, type Context, type Next, type Router } from 'mortar'
import { describeError } from 'mortar/kit'

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

/** An operator's error: shown in full outside production, and logged in every environment. */
function explainMissingTable(ctx: Context, next: Next): Promise<unknown> {
  return next().catch((error: unknown) => {
    // Not `instanceof`, which calls the traps of a thrown proxy.
    const { type, message } = describeError(error)
    if (type !== 'MissingColumn' && type !== 'MissingTable') throw error
    const kind = type === 'MissingColumn' ? 'column' : 'table'
    const isProduction = ctx.services['environment'] === 'production'
    const detail = isProduction
      ? `A ${kind} of the auth brick is missing in the database. See the log.`
      : message
    // The database brick declares these codes; a provider with a connection of its own also works without that brick.
    throw new HttpError(500, detail, {
      code: `missing_${kind}`,
      title: `Missing ${kind}`,
      type: `urn:mortar:problem:missing_${kind}`,
      cause: error,
    })
  })
}
