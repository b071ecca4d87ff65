import { createRouter, HttpError, type Context, type DefinedRoute, type Next, type Router } from 'mortar'
import { MissingColumn, MissingTable } from '../errors.ts'
import { changePasswordRoute } from './change-password.ts'
import { forgotPasswordRoute } from './forgot-password.ts'
import { logInRoute } from './log-in.ts'
import { logOutRoute } from './log-out.ts'
import { meRoute } from './me.ts'
import { refreshRoute } from './refresh.ts'
import { resetPasswordRoute } from './reset-password.ts'
import { signUpRoute } from './sign-up.ts'

/** The eight endpoints. They have no state: the provider comes from the services of the request. */
export const passwordRoutes: Router = createRouter({ tags: ['auth'] })
  .use(noStore)
  .use(explainMissingTable)
passwordRoutes.post('/signup', ...parts(signUpRoute))
passwordRoutes.post('/login', ...parts(logInRoute))
passwordRoutes.post('/refresh', ...parts(refreshRoute))
passwordRoutes.post('/logout', ...parts(logOutRoute))
passwordRoutes.get('/me', ...parts(meRoute))
passwordRoutes.post('/change-password', ...parts(changePasswordRoute))
passwordRoutes.post('/forgot-password', ...parts(forgotPasswordRoute))
passwordRoutes.post('/reset-password', ...parts(resetPasswordRoute))

function parts({ definition, handler }: DefinedRoute) {
  return [definition, handler] as const
}

/** Responses about accounts, errors included, are not cached (ASVS 14.3.2). */
function noStore(ctx: Context, next: Next): unknown {
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
