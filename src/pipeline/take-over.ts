import type { ServerResponse } from 'node:http'
import { closeResponse, markAsSent } from '../compat/node.ts'
import type { BaseContext } from '../context/context.ts'
import { publicContext, type RequestContext } from '../context/request-context.ts'
import { forgetRequest } from '../context/forget-request.ts'
import { type Abortable, clientLeft } from '../context/request-signal.ts'
import {
  type ConnectionLife,
  heldConnection,
  markTaken,
  releaseConnection,
  type Takeover,
} from '../context/takeover.ts'
import { HttpError, ServiceUnavailable } from '../errors/http-error.ts'
import { StartupError } from '../errors/startup-error.ts'
import { describeRoute, type Route } from '../routing/route.ts'
import { markSettled, Refusal, type PipelineRuntime, type Step } from './step.ts'

/**
 * Compiles the check of a route that changes the protocol: 426 for a plain request, 503 while the application drains.
 * @throws StartupError at boot if no brick has declared the protocol, so that no server would ever change it.
 */
export function admitUpgrade(route: Route, runtime: PipelineRuntime): Step | undefined {
  const { upgrade } = route
  if (upgrade === undefined) return undefined
  const { protocol, admit, isOptional = false } = upgrade
  if (!runtime.upgrades.has(protocol))
    throw new StartupError(
      `${describeRoute(route)} changes to the protocol ${protocol}, which no brick speaks.`,
      {
        code: 'MORTAR_UPGRADE_MISSING',
        remedy: `Register the brick that provides the function by which the route was made: app.use(…).`,
        files: [route.origin],
      },
    )
  const detail = `This path is for connections that change to the protocol ${protocol}.`
  return (inner) =>
    function upgradeOnly(ctx) {
      const held = heldConnection(ctx.internal.req)
      if (held === undefined && isOptional) return inner(ctx)
      const headers = { Upgrade: protocol, Connection: 'Upgrade, close' }
      if (held?.protocol !== protocol) return new Refusal(new HttpError(426, detail, { headers }))
      if (held.isDraining())
        return new Refusal(new ServiceUnavailable('The application is closing.', { retryAfter: 1 }))
      admit?.(publicContext(ctx))
      return inner(ctx)
    }
}

/**
 * Makes the response of a handler the change of its connection to another protocol, which happens when middleware has
 * ended; the handler then returns nothing. Middleware that responds otherwise prevents it.
 */
export function takeOver(ctx: Pick<BaseContext, 'id'>, takeover: Takeover): void {
  const { internal } = ctx as unknown as RequestContext
  internal.takeover = takeover
  internal.status = 0
}

/** Changes the protocol. @throws if the takeover refuses; nothing is written then. */
export function beginTakeover(ctx: RequestContext): void {
  const { internal } = ctx
  const { req, res } = internal
  const { socket, head } = heldConnection(req)!
  if (internal.id !== undefined) res.setHeader('X-Request-Id', internal.id)
  const life = new Life(ctx)
  // Before the takeover listens to the connection too: Node enlarges a list of three listeners by sixteen places.
  res.detachSocket(req.socket)
  try {
    internal.takeover!.begin({ req, socket, head, headers: headersOf(res) }, life)
  } catch (error) {
    res.assignSocket(req.socket)
    throw error
  }
  res.writeHead(101)
  markAsSent(res)
  // Scoped services live as long as the connection is used.
  internal.isSettled = false
  releaseConnection(req)
  life.begin()
}

/** The request of a connection, from the response 101 to the end of the work on the connection. */
class Life implements ConnectionLife, Abortable {
  readonly #ctx: RequestContext

  constructor(ctx: RequestContext) {
    this.#ctx = ctx
  }

  begin(): void {
    const { internal } = this.#ctx
    forgetRequest(this.#ctx)
    internal.prepare?.endWithSession?.(this.#ctx, { status: 101, type: undefined, payload: null })
    markTaken(internal.req.socket, true)
    internal.runtime.open.hold(this)
  }

  abort(reason: unknown): void {
    const { req, takeover } = this.#ctx.internal
    // From now on, the stop of the server cuts a connection off that stays silent.
    markTaken(req.socket, false)
    takeover!.end(reason as HttpError)
  }

  closed(): void {
    ;(this.#ctx.internal.abort ??= new AbortController()).abort(clientLeft())
  }

  ended(): void {
    const { res, runtime } = this.#ctx.internal
    runtime.open.release(this)
    markSettled(this.#ctx)
    closeResponse(res)
  }
}

function headersOf(res: ServerResponse): [string, string][] {
  return Object.entries(res.getHeaders()).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, String(each)]),
  )
}
