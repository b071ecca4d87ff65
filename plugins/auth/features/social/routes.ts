import * as yup from 'mortar/yup'
import { defineRoute, Forbidden, type BaseContext, type Router } from 'mortar'
import { isHttpError } from 'mortar/kit'
import { featureOf, ownSession, presentedToken, signedInBody } from '../../routes/auth-context.ts'
import { authRouter } from '../../routes/auth-router.ts'
import { JSON_BODY, limited, stale } from '../../routes/shapes.ts'
import type { SocialSignIn } from './sign-in.ts'

const socialOf = (ctx: BaseContext) => featureOf<SocialSignIn>(ctx, 'social')

/** A path of this application: another address would make it an open redirect (RFC 9700 §4.11). */
const returnPath = yup
  .string()
  .strict()
  .test(
    'path',
    'Write a path of this application, such as /notes.',
    (value) =>
      value === undefined || (isPath(value) && Buffer.byteLength(JSON.stringify(value)) <= LONGEST_RETURN),
  )
  .meta({ description: 'Path of this application for the browser after the sign-in; / by default.' })

/** Bytes. The value is in a cookie, of which a browser may have several and a proxy takes few kilobytes. */
const LONGEST_RETURN = 600

const NOWHERE = 'http://path.invalid'

/** True for a path that no browser reads as an address of another host. */
export function isPath(value: string): boolean {
  // The parser of browsers: it also reads `/\` and a tab between two slashes as the beginning of a host.
  const address = value.startsWith('/') && URL.canParse(value, NOWHERE) ? new URL(value, NOWHERE) : undefined
  return address?.origin === NOWHERE
}

const name = yup.object({ provider: yup.string().required() })
const unknownProvider = { description: 'There is no such provider.' }
const down = { description: 'The provider does not respond.' }

const beginRoute = defineRoute(
  {
    summary: 'Sign in at another provider',
    description: 'For a link of a page: redirects the browser to the provider.',
    operationId: 'beginSocialSignIn',
    params: name,
    query: yup.object({ return: returnPath }),
    response: {
      302: { description: 'To the page of the provider.' },
      403: { description: 'A page of another site has sent the browser here.' },
      404: unknownProvider,
      429: limited,
      502: down,
    },
  },
  async (ctx) => {
    refuseOtherSites(ctx)
    const start = { ...startOf(ctx), returnTo: ctx.query.return ?? '/' }
    const { url, set } = await socialOf(ctx).begin(start, ctx)
    set(ctx)
    return ctx.redirect(url)
  },
)

const callbackRoute = defineRoute(
  {
    summary: 'Come back from another provider',
    description:
      'The provider sends the browser here. It continues at `return` with a refresh cookie, or at `errorPath` with the ' +
      'code of the problem as `error`. If the account has a second factor, the fragment has its `challenge`.',
    operationId: 'finishSocialSignIn',
    params: name,
    response: {
      302: { description: 'To a page of the application.' },
      404: unknownProvider,
    },
  },
  async (ctx) => {
    ctx.set('Referrer-Policy', 'no-referrer')
    const query = queryOf(ctx)
    const social = socialOf(ctx)
    // A program that looks at the address must not use the code up.
    if (ctx.method === 'HEAD') return ctx.redirect(social.errorPath)
    social.cookieOf(query)?.clear(ctx)
    const callback = { ...startOf(ctx), query, presented: presentedToken(ctx) }
    try {
      const { returnTo, grant } = await social.finish(callback, ctx)
      if (grant !== undefined) signedInBody(ctx, grant)
      return ctx.redirect(returnTo)
    } catch (error) {
      const target = errorTarget(social.errorPath, error)
      if (target === null) throw error
      return ctx.redirect(target)
    }
  },
)

const linkRoute = defineRoute(
  {
    summary: 'Link an account of another provider',
    description: 'Returns the address of the provider, for a redirect in this browser.',
    operationId: 'linkAccount',
    auth: 'fresh',
    params: name,
    ...JSON_BODY,
    body: yup.object({ return: returnPath }).meta({ title: 'LinkAccount' }),
    response: {
      200: yup.object({ url: yup.string().required() }).label('SocialLink'),
      403: stale,
      404: unknownProvider,
      429: limited,
      502: down,
    },
  },
  async (ctx) => {
    const start = { ...startOf(ctx), returnTo: ctx.body.return ?? '/', link: ownSession(ctx) }
    const { url, set } = await socialOf(ctx).begin(start, ctx)
    set(ctx)
    return { url }
  },
)

const linkedAccount = yup
  .object({
    id: yup.string().required(),
    provider: yup.string().required(),
    email: yup
      .string()
      .nullable()
      .defined()
      .meta({ description: 'Address at the provider when it was linked.' }),
    linkedAt: yup.string().required().meta({ format: 'date-time' }),
    lastUsedAt: yup.string().nullable().defined().meta({ format: 'date-time' }),
  })
  .label('LinkedAccount')

const listRoute = defineRoute(
  {
    summary: 'The linked accounts of the user',
    operationId: 'listLinkedAccounts',
    auth: true,
    response: {
      200: yup.object({ accounts: yup.array(linkedAccount.required()).required() }).label('LinkedAccounts'),
    },
  },
  async (ctx) => ({ accounts: [...(await socialOf(ctx).list(ownSession(ctx)))] }),
)

const unlinkRoute = defineRoute(
  {
    summary: 'Unlink an account of another provider',
    operationId: 'unlinkAccount',
    auth: 'fresh',
    params: yup.object({ id: yup.string().required() }),
    response: {
      204: { description: 'The account is not linked any more.' },
      403: stale,
      404: { description: 'The user has no such account.' },
      409: { description: 'It is the only way in: set a password first.' },
      429: limited,
    },
  },
  async (ctx) => socialOf(ctx).unlink(ctx.params.id, ownSession(ctx), ctx),
)

/** The router of `social()`. */
export function socialRoutes(): Router {
  const router = authRouter()
  router.get('/social/:provider', beginRoute)
  router.get('/social/:provider/callback', callbackRoute)
  router.post('/social/:provider/link', linkRoute)
  router.get('/accounts', listRoute)
  router.delete('/accounts/:id', unlinkRoute)
  return router
}

/** A new session needs an action of the user on a page of the application (ASVS 7.6.2). */
function refuseOtherSites(ctx: BaseContext): void {
  if (ctx.get('sec-fetch-site') !== 'cross-site') return
  throw new Forbidden('A sign-in begins on a page of this application.', { code: 'cross_site_request' })
}

function startOf(ctx: BaseContext & { readonly params: { readonly provider: string } }) {
  return { provider: ctx.params.provider, cookies: ctx.get('cookie') ?? '' }
}

function queryOf({ url }: BaseContext): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at)
}

/** Statuses of refusals that a page can explain. A failure of the server and an unknown provider stay responses. */
const EXPLAINED: readonly number[] = [401, 403, 409, 429, 502]

function errorTarget(errorPath: string, error: unknown): string | null {
  if (!isHttpError(error) || !EXPLAINED.includes(error.status)) return null
  const target = new URL(errorPath, NOWHERE)
  target.searchParams.set('error', error.code)
  const { challenge } = (error.extensions ?? {}) as { readonly challenge?: unknown }
  // In the fragment, which no server and no Referer receives.
  if (typeof challenge === 'string') target.hash = new URLSearchParams({ challenge }).toString()
  return `${target.pathname}${target.search}${target.hash}`
}
