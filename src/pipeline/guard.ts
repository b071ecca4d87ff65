import type { Policy } from '../contracts/authenticator.ts'
import { Forbidden, isHttpError, Unauthorized } from '../errors/http-error.ts'
import { StartupError } from '../errors/startup-error.ts'
import { stackless } from '../errors/stackless.ts'
import { publicContext, type RequestContext } from '../context/request-context.ts'
import type { Route } from '../routing/route.ts'
import { nearest } from '../support/nearest.ts'
import { isThenable } from '../support/thenable.ts'
import type { Step, PipelineRuntime } from './step.ts'

interface NamedPolicy {
  readonly name: string
  readonly allows: Policy
}

/**
 * Compiles the guard of a route: 401 without a signed-in user, 403 if a policy does not return `true`.
 * @throws StartupError at boot for a guard that cannot be evaluated: no authenticator, unknown policy, unknown shape.
 */
export function guardRoute(route: Route, runtime: PipelineRuntime): Step | undefined {
  const { auth } = route.definition
  if (auth === undefined || auth === false) return runtime.authenticator && guardPublic
  const names = policyNames(route)
  const { authenticator } = runtime
  if (!authenticator)
    throw new StartupError(
      `${route.method} ${route.path} declares auth, and no brick provides an authenticator.`,
      {
        code: 'MORTAR_AUTH_MISSING',
        remedy:
          'Register a brick with the service authenticator (docs/auth.md), or remove auth from the route to make it public.',
        files: [route.origin],
      },
    )
  const policies = names.map((name) => findPolicy(name, authenticator.policies, route))
  return (inner) =>
    function guard(ctx) {
      requireUser(ctx)
      const waiting = requirePolicies(ctx, policies)
      if (waiting === undefined) return inner(ctx)
      return waiting.then(function afterGuard() {
        return inner(ctx)
      })
    }
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

function requireUser(ctx: RequestContext): void {
  if (ctx.user !== null) return
  // oxlint-disable-next-line typescript/only-throw-error -- the value that the authenticator threw
  if (ctx.internal.refusal !== undefined) throw ctx.internal.refusal
  if (ctx.credential === null)
    throw stackless(Unauthorized, 'Sign in to do this.', { headers: { 'WWW-Authenticate': 'Bearer' } })
  throw stackless(Unauthorized, 'The credential is not valid or has expired.', {
    code: 'invalid_token',
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
}

/** Runs the policies in order until one refuses the request. Waits only if a policy returns a promise. */
function requirePolicies(
  ctx: RequestContext,
  policies: readonly NamedPolicy[],
  from = 0,
): void | Promise<void> {
  for (let index = from; index < policies.length; index++) {
    const policy = policies[index]!
    const verdict: unknown = policy.allows(ctx.user!, publicContext(ctx))
    if (isThenable(verdict))
      return Promise.resolve(verdict).then((settled) => {
        requireTrue(settled, policy)
        return requirePolicies(ctx, policies, index + 1)
      })
    requireTrue(verdict, policy)
  }
}

function requireTrue(verdict: unknown, { name }: NamedPolicy): void {
  if (verdict === true) return
  throw stackless(Forbidden, `The policy '${name}' does not allow this.`, {
    code: 'policy_denied',
    extensions: { policy: name },
  })
}

/** Returns the policy names of `auth`. Its shape was checked at the declaration; an unknown name is refused later. */
function policyNames({ definition }: Route): readonly string[] {
  return definition.auth === true ? [] : ([definition.auth].flat() as string[])
}

function findPolicy(name: string, policies: Readonly<Record<string, Policy>>, route: Route): NamedPolicy {
  const allows = Object.hasOwn(policies, name) ? policies[name] : undefined
  if (allows) return { name, allows }
  const guess = nearest(name, Object.keys(policies))
  throw new StartupError(
    `${route.method} ${route.path} requires the policy '${name}', which is not defined.`,
    {
      code: 'MORTAR_POLICY_UNKNOWN',
      remedy: guess
        ? `Did you mean '${guess}'?`
        : `Add it to the policies of the brick with the authenticator: policies: { ${name}: (user, ctx) => … }.`,
      files: [route.origin],
    },
  )
}
