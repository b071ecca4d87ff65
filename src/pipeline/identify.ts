import type { Authenticator, CredentialRequest } from '../contracts/authenticator.ts'
import type { User } from '../contracts/user.ts'
import type { BaseContext } from '../context/context.ts'
import type { RequestContext } from '../context/request-context.ts'
import { describeError } from '../errors/describe-error.ts'
import { Forbidden } from '../errors/http-error.ts'
import { isSameOrigin } from '../support/same-origin.ts'
import type { Step, PipelineRuntime } from './step.ts'
import { isUnavailable } from './unavailable.ts'
import { isThenable } from '../support/thenable.ts'

/**
 * Authenticates the credential before any middleware runs. If it cannot be evaluated, `ctx.user` is null and the guard
 * throws the stored refusal: guarded routes stay closed, and public routes still respond.
 */
export function identifyUser(runtime: PipelineRuntime): Step | undefined {
  const { authenticator } = runtime
  if (!authenticator) return undefined
  return (inner) =>
    function identify(ctx) {
      const waiting = ctx.credential === null ? undefined : askWho(ctx, authenticator, runtime)
      if (waiting === undefined) return inner(ctx)
      return waiting.then(function afterIdentify() {
        return inner(ctx)
      })
    }
}

function askWho(
  ctx: RequestContext,
  authenticator: Authenticator,
  runtime: PipelineRuntime,
): void | PromiseLike<void> {
  const credential = ctx.credential!
  if (credential.source === 'cookie' && !isSameOrigin(ctx, runtime.trustedOrigins)) {
    ctx.internal.refusal = crossSite()
    return
  }
  try {
    const answer = authenticator.identify(credential, viewOf(ctx))
    if (!isThenable(answer)) return accept(ctx, answer)
    return Promise.resolve(answer).then(
      (user) => accept(ctx, user),
      (error: unknown) => refuse(ctx, error, runtime),
    )
  } catch (error) {
    refuse(ctx, error, runtime)
  }
}

/**
 * Evaluates the credential of an earlier request again, or another token of its client. @returns the user, or null if the
 * credential is not valid any more. @throws the error of the authenticator.
 */
export async function identifyAgain(
  given: Pick<BaseContext, 'id'>,
  authenticator: Authenticator,
  token?: string,
): Promise<User | null> {
  const ctx = given as unknown as RequestContext
  const credential = token === undefined ? ctx.credential : ({ token, source: 'header' } as const)
  return credential && ((await authenticator.identify(credential, viewOf(ctx))) ?? null)
}

/** Sets the user if the authenticator returned one, else null. */
function accept(ctx: RequestContext, user: User | null | undefined): void {
  ctx.user = typeof user === 'object' ? user : null
}

function refuse(ctx: RequestContext, error: unknown, runtime: PipelineRuntime): void {
  ctx.internal.refusal = error ?? new Error('The authenticator failed.')
  const explained = runtime.explainError(error)
  const fields = { requestId: ctx.id, method: ctx.method, route: ctx.route }
  if (isUnavailable(explained)) return runtime.unavailable.log(explained, fields)
  runtime.logger.error({ ...fields, err: describeError(error) }, 'The credential could not be evaluated')
}

/**
 * The request as an authenticator sees it. Address and signal are computed on first read. It is a class, because each
 * object literal with getters gets its own hidden class, which keeps the request alive until V8 collects old objects.
 */
class RequestView implements CredentialRequest {
  readonly method: string
  readonly path: string
  readonly headers: CredentialRequest['headers']
  readonly #ctx: RequestContext

  constructor(ctx: RequestContext) {
    this.method = ctx.method
    this.path = ctx.path
    this.headers = ctx.rawHeaders
    this.#ctx = ctx
  }

  get ip(): string {
    return this.#ctx.ip
  }

  get signal(): AbortSignal {
    return this.#ctx.signal
  }
}

/** Returns the part of a request that an authenticator may read. */
export function viewOf(ctx: RequestContext): CredentialRequest {
  return new RequestView(ctx)
}

/** The error for a page of another site that uses the cookie which the browser sends (OWASP CSRF Prevention). */
function crossSite(): Forbidden {
  return new Forbidden('A request with a cookie credential must come from a page of the same origin.', {
    code: 'cross_site_request',
  })
}
