import type { Policy, PolicyContext } from '../contracts/authenticator.ts'
import { Forbidden, isHttpError, Unauthorized } from '../errors/http-error.ts'
import { StartupError } from '../errors/startup-error.ts'
import type { Context } from '../context/context.ts'
import { publicContext, type RequestContext } from '../context/request-context.ts'
import { type AuthRequirement, describeRoute, type Route } from '../routing/route.ts'
import { describeValue } from '../support/describe-value.ts'
import { didYouMean } from '../support/nearest.ts'
import { isThenable } from '../support/thenable.ts'
import { Refusal, type PipelineRuntime, type Step } from './step.ts'

interface NamedPolicy {
  readonly name: string
  readonly allows: Policy
  /** Reads each verdict that denies. Undefined in production. */
  readonly denying?: (verdict: unknown) => void
}

/**
 * Compiles the guard of a route: 401 without a signed-in user, 403 if a policy does not return `true`.
 * @throws StartupError at boot for a guard that cannot be evaluated: no authenticator, unknown policy, unknown shape.
 */
export function guardRoute(route: Route, runtime: PipelineRuntime): Step | undefined {
  const { auth } = route.definition
  if (auth === undefined || auth === false) return runtime.authenticator && guardPublic
  const policies = policiesOf({ auth, name: describeRoute(route), file: route.origin }, runtime)
  return (inner) =>
    function guard(ctx) {
      if (ctx.user === null) return new Refusal(errorWithoutUser(ctx))
      const refusal = judge(ctx, policies)
      if (refusal === undefined) return inner(ctx)
      if (refusal instanceof Refusal) return refusal
      return refusal.then(function afterGuard(settled) {
        return settled ?? inner(ctx)
      })
    }
}

/** Something that a guard protects: a route, or an entry point of a brick. */
export interface Guarded {
  readonly auth: Exclude<AuthRequirement, false>
  /** For messages. */
  readonly name: string
  readonly file: string
}

/** Judges the user of a request. @throws HttpError, and the error of a policy; a rejection if a policy is asynchronous. */
export type Guard = (ctx: Context) => void | Promise<void>

/**
 * Compiles the guard of an entry point that is not a route, with the rules of routes. The guard reads `ctx.user` and
 * passes `ctx` to the policies.
 * @throws StartupError at boot for a guard that cannot be evaluated.
 */
export function compileGuard(guarded: Guarded, runtime: GuardRuntime): Guard {
  const policies = policiesOf(guarded, runtime)
  return (given) => {
    const ctx = given as unknown as RequestContext
    if (ctx.user === null) throw errorWithoutUser(ctx)
    const refusal = judge(ctx, policies)
    if (refusal instanceof Refusal) throw refusal.error
    return refusal?.then((settled) => {
      if (settled !== undefined) throw settled.error
    })
  }
}

type GuardRuntime = Pick<PipelineRuntime, 'authenticator' | 'environment' | 'logger'>

function policiesOf({ auth, name, file }: Guarded, runtime: GuardRuntime): readonly NamedPolicy[] {
  const { authenticator } = runtime
  if (!authenticator)
    throw new StartupError(`${name} declares auth, and no brick provides an authenticator.`, {
      code: 'MORTAR_AUTH_MISSING',
      remedy:
        'Register a brick with the service authenticator (node_modules/mortar/docs/auth.md), or remove auth from the route to make it public.',
      files: [file],
    })
  // The shape of `auth` was checked at the declaration.
  const names = auth === true ? [] : [auth].flat()
  return names.map((each) => reporting(findPolicy(each, authenticator.policies, { name, file }), runtime))
}

const guardPublic: Step = (inner) =>
  function guard(ctx) {
    refuseCrossSite(ctx)
    return inner(ctx)
  }

/** Refuses an unsafe cross-site request with a cookie credential; it must not even run anonymously. */
function refuseCrossSite(ctx: RequestContext): void {
  const { refusal } = ctx.internal
  if (isHttpError(refusal) && refusal.code === 'cross_site_request') throw refusal
}

/** Returns the error of a request without a user: what the authenticator threw, or a 401. */
function errorWithoutUser({ internal, credential, rawHeaders }: RequestContext): unknown {
  if (internal.refusal !== undefined) return internal.refusal
  if (credential === null)
    return new Unauthorized(withoutScheme(rawHeaders) ?? 'Sign in to do this.', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    })
  return new Unauthorized('The credential is not valid or has expired.', {
    code: 'invalid_token',
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
}

/** A token that is sent alone is the likeliest mistake of a first request. It has no blank, unlike other schemes. */
function withoutScheme({ authorization }: RequestContext['rawHeaders']): string | undefined {
  return typeof authorization !== 'string' || /^$|\s|^bearer$/i.test(authorization)
    ? undefined
    : "Sign in to do this: the header Authorization has no scheme. Write 'Authorization: Bearer TOKEN'."
}

type Verdict = Refusal | undefined

/** Runs the policies in order until one refuses the request. Waits only if a policy returns a promise. */
function judge(ctx: RequestContext, policies: readonly NamedPolicy[], from = 0): Verdict | Promise<Verdict> {
  for (let index = from; index < policies.length; index++) {
    const policy = policies[index]!
    // Which bricks have added their members is known only where the application is written.
    const verdict: unknown = policy.allows(ctx.user!, publicContext(ctx) as Context & PolicyContext)
    if (isThenable(verdict))
      return Promise.resolve(verdict).then((settled) =>
        settled === true ? judge(ctx, policies, index + 1) : denied(policy, settled),
      )
    if (verdict !== true) return denied(policy, verdict)
  }
  return undefined
}

function denied({ name, denying }: NamedPolicy, verdict: unknown): Refusal {
  denying?.(verdict)
  return new Refusal(
    new Forbidden(`The policy '${name}' does not allow this.`, {
      code: 'policy_denied',
      extensions: { policy: name },
    }),
  )
}

/** Makes a policy warn, once for each route, of a verdict that is not a boolean: only `true` allows. Outside production. */
function reporting(policy: NamedPolicy, { environment, logger }: GuardRuntime): NamedPolicy {
  if (environment === 'production') return policy
  let isReported = false
  return {
    ...policy,
    denying(verdict) {
      if (isReported || typeof verdict === 'boolean') return
      isReported = true
      logger.warn(
        `The policy '${policy.name}' returned ${describeValue(verdict)}, not true or false, so it denies. Is a \`return\` missing? Write \`=== true\` or Boolean(…) where a value means yes.`,
      )
    },
  }
}

function findPolicy(
  name: string,
  policies: Readonly<Record<string, Policy>>,
  guarded: Pick<Guarded, 'name' | 'file'>,
): NamedPolicy {
  const allows = Object.hasOwn(policies, name) ? policies[name] : undefined
  if (allows) return { name, allows }
  throw new StartupError(`${guarded.name} requires the policy '${name}', which is not defined.`, {
    code: 'MORTAR_POLICY_UNKNOWN',
    remedy: didYouMean(
      name,
      Object.keys(policies),
      `Add it to the policies of the brick with the authenticator: policies: { ${name}: (user, ctx) => … }.`,
    ),
    files: [guarded.file],
  })
}
