import * as yup from 'mortar/yup'
import { defineRoute, type BaseContext, type Router } from 'mortar'
import { authOf, featureOf, ownSession } from '../../routes/auth-context.ts'
import { authRouter } from '../../routes/auth-router.ts'
import { limited, spentLink, stale } from '../../routes/shapes.ts'
import { linkPageRouter } from '../link-page.ts'
import type { AccountEnd } from './account-end.ts'
import type { ExportAccount } from './export-account.ts'
import { PAGE } from './page.ts'

const accountOf = (ctx: BaseContext) =>
  featureOf<AccountEnd & { readonly export: ExportAccount }>(ctx, 'account')

const deleteRoute = defineRoute(
  {
    summary: 'Delete the account',
    description:
      'Ends every session and refuses logins. A mail has a link that takes the account back while the grace lasts; after ' +
      'it the account and everything stored about it are deleted.',
    operationId: 'deleteAccount',
    auth: 'fresh',
    response: { 204: { description: 'The account is closed.' }, 403: stale, 429: limited },
  },
  async (ctx) => {
    await accountOf(ctx).request(ownSession(ctx), ctx)
    authOf(ctx).cookie.clear(ctx)
  },
)

const restoreRoute = defineRoute(
  {
    summary: 'Take a deleted account back',
    description: 'Needs the token of the link. The user then logs in as before.',
    operationId: 'restoreAccount',
    ...spentLink('RestoreAccount'),
  },
  async (ctx) => {
    await accountOf(ctx).restore(ctx.body.token, ctx)
    return { message: 'Your account is back. Log in.' }
  },
)

const record = yup.mixed<Readonly<Record<string, unknown>>>().required()

const exportRoute = defineRoute(
  {
    summary: 'Export the stored data of the user',
    description: 'Has no password, token or other secret.',
    operationId: 'exportAccount',
    auth: 'fresh',
    response: {
      200: yup
        .object({
          exportedAt: yup.string().required().meta({ format: 'date-time' }),
          user: record.meta({ description: 'The public record.' }),
          sessions: yup.array(record).required(),
          features: record.meta({ description: 'The rows of features, by table.' }),
          application: yup
            .mixed<object>()
            .nullable()
            .defined()
            .meta({ description: 'Data of the application.' }),
        })
        .label('AccountExport'),
      403: stale,
      429: limited,
    },
  },
  async (ctx) => {
    const { sessions, ...rest } = await accountOf(ctx).export(ownSession(ctx), ctx)
    return { ...rest, sessions: [...sessions] }
  },
)

/** The routers of `account()`. */
export function accountRoutes(): readonly Router[] {
  const router = authRouter()
  router.delete('/account', deleteRoute)
  router.post('/account/restore', restoreRoute)
  router.get('/account/export', exportRoute)
  return [router, linkPageRouter(PAGE)]
}
