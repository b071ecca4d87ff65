import { createHash } from 'node:crypto'
import type { Limiter, LimitCount } from '../contracts/limiter.ts'
import { publicContext, type RequestContext } from '../context/request-context.ts'
import { TooManyRequests } from '../errors/http-error.ts'
import { clientNetwork } from '../limits/client-network.ts'
import { limitPolicy, limitStanding } from '../limits/limit-headers.ts'
import type { Route } from '../routing/route.ts'
import { isThenable } from '../support/thenable.ts'
import { limitsOf, type ActiveLimit } from './limits-of-route.ts'
import { Refusal, type Inner, type PipelineRuntime, type Step } from './step.ts'

/**
 * Compiles the limits of a route into the steps that count its requests. A step without limits is undefined.
 * @throws StartupError at boot for a limit that cannot be counted: no limiter, unknown rule, `by: 'user'` without `auth`.
 */
export function limitRequests(route: Route, runtime: PipelineRuntime) {
  const limits = limitsOf(route, runtime)
  const of = (...kinds: ActiveLimit['stage'][]) => limits.filter(({ stage }) => kinds.includes(stage))
  const limiter = runtime.limiter!
  const byAddress = of('address')
  return {
    /**
     * Counts by address before the credential is evaluated. Beyond a limit, the request runs `refused` instead of the
     * inner steps: the middleware, so that its headers and logs also cover the refusal, and then the 429.
     */
    byAddress: (refused: (returnRefusal: Inner) => Inner) =>
      byAddress.length === 0 ? undefined : refuseBefore(byAddress, limiter, refused(returnRefusal)),
    /** Counts by the presented credential, before the guard. */
    byCredential: countBefore(of('credential'), limiter),
    /** Counts by user or by a function, after the guard and before the body is read. */
    byCaller: countBefore(of('caller'), limiter),
  }
}

function returnRefusal({ internal }: RequestContext): Refusal {
  // The 429 that the step of the address stored.
  return new Refusal(internal.refusal)
}

function refuseBefore(limits: readonly ActiveLimit[], limiter: Limiter, refused: Inner): Step {
  return (inner) =>
    function limitByAddress(ctx) {
      const proceed = (verdict: Verdict): unknown => {
        if (verdict === undefined) return inner(ctx)
        ctx.internal.refusal = verdict.error
        return refused(ctx)
      }
      const verdict = countAll(ctx, limits, limiter)
      return verdict instanceof Promise ? verdict.then(proceed) : proceed(verdict)
    }
}

function countBefore(limits: readonly ActiveLimit[], limiter: Limiter): Step | undefined {
  if (limits.length === 0) return undefined
  return (inner) =>
    function limit(ctx) {
      const verdict = countAll(ctx, limits, limiter)
      if (verdict === undefined) return inner(ctx)
      if (verdict instanceof Refusal) return verdict
      return verdict.then(function afterCount(settled) {
        return settled ?? inner(ctx)
      })
    }
}

type Verdict = Refusal | undefined

/** Counts by each limit until one refuses. Waits only for a subject or a count that is a promise. */
function countAll(
  ctx: RequestContext,
  limits: readonly ActiveLimit[],
  limiter: Limiter,
  from = 0,
): Verdict | Promise<Verdict> {
  for (let index = from; index < limits.length; index++) {
    const verdict = countOne(ctx, limits[index]!, limiter)
    if (verdict instanceof Promise)
      return verdict.then((settled) => settled ?? countAll(ctx, limits, limiter, index + 1))
    if (verdict !== undefined) return verdict
  }
  return undefined
}

function countOne(ctx: RequestContext, limit: ActiveLimit, limiter: Limiter): Verdict | Promise<Verdict> {
  const subject = subjectOf(ctx, limit)
  if (isThenable(subject))
    return Promise.resolve(subject).then((settled) => countSubject(ctx, limit, limiter, settled))
  return countSubject(ctx, limit, limiter, subject)
}

function countSubject(
  ctx: RequestContext,
  limit: ActiveLimit,
  limiter: Limiter,
  subject: unknown,
): Verdict | Promise<Verdict> {
  if (subject === null) return undefined
  if (typeof subject !== 'string') throw notASubject(limit, subject)
  const count = limiter.consume(limit.prefix + subject, limit.rule)
  if (isThenable(count)) return Promise.resolve(count).then((settled) => judge(ctx, limit, settled))
  return judge(ctx, limit, count)
}

function subjectOf(ctx: RequestContext, { rule: { by } }: ActiveLimit): unknown {
  if (by === 'ip') return clientNetwork(ctx.ip)
  if (by === 'user') return ctx.user!.id
  if (by !== 'credential') return by(publicContext(ctx))
  return ctx.credential && createHash('sha256').update(ctx.credential.token).digest('base64url')
}

/** Reports the state of the limit in the headers, beside limits that were counted before. */
function judge(ctx: RequestContext, { name, parsed }: ActiveLimit, count: LimitCount): Verdict {
  const { res } = ctx.internal
  if (!res.headersSent) {
    appendMember(res, 'RateLimit-Policy', limitPolicy(name, parsed))
    appendMember(res, 'RateLimit', limitStanding(name, count))
  }
  if (count.allowed) return undefined
  const detail = 'Too many requests. Try again later.'
  return new Refusal(new TooManyRequests(count.resetIn / 1000, detail, { code: 'rate_limited' }))
}

function appendMember(res: RequestContext['internal']['res'], name: string, member: string): void {
  const present = res.getHeader(name)
  res.setHeader(name, present === undefined ? member : `${String(present)}, ${member}`)
}

function notASubject({ route }: ActiveLimit, subject: unknown): TypeError {
  return new TypeError(
    `The function 'by' of a limit of ${route} returned ${typeof subject}. Return a string, or null for no limit.`,
  )
}
