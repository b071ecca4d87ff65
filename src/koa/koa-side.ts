import { bodyOf } from '../compat/koa.ts'
import type { AdapterState } from '../context/adapter-state.ts'
import type { KoaContext } from '../context/context.ts'
import type { OuterAppParts } from '../context/outer-app.ts'
import type { Outgoing } from '../context/outgoing.ts'
import type { Adapter, RequestContext } from '../context/request-context.ts'
import { describeError } from '../errors/describe-error.ts'
import { discard } from '../pipeline/render.ts'
import { UploadedFile, type UploadedFileFields } from '../schema/uploaded-file.ts'
import { whenClosed } from '../support/when-closed.ts'
import { type HandedValue, type KoaSide, linkState, linkUser, takeFromKoa } from './koa-context.ts'

/** Creates the `ctx` of a request; undefined if the application is not running. */
export type Opener = (koa: KoaContext) => Promise<RequestContext | undefined>

/** Returns the function that opens requests which arrive through Koa. The first one boots the application. */
export function openerOf({ open, begin, boot, state }: OuterAppParts): Opener {
  const adapter = createKoaAdapter(state)
  let isBooted = false
  return async (koa) => {
    try {
      // `ready()` rejects when the application is already closed.
      if (!isBooted || state.closing) await boot.ready()
      isBooted = true
    } catch (error) {
      const fields = { err: describeError(error) }
      state.reporter.error(fields, 'A request arrived at an application that is not running')
      return undefined
    }
    whenClosed(koa.req, koa.res, begin())
    const ctx = open(koa.req, koa.res, adapter)
    ctx.internal.outer = createSide(ctx, koa)
    linkState(koa, ctx)
    return ctx
  }
}

/** Creates the adapter that sets responses on the Koa context, for outer middleware and for Koa to send. */
function createKoaAdapter(state: AdapterState): Adapter {
  const mark = ({ internal, koa }: RequestContext): void => {
    if (koa.headerSent) return
    if (state.draining) koa.set('Connection', 'close')
    if (internal.id !== undefined) koa.set('X-Request-Id', internal.id)
  }
  return {
    mark,
    send(ctx, { status, type, payload, headers = [] }) {
      const { koa } = ctx
      for (let index = 0; index < headers.length; index += 2) koa.set(headers[index]!, headers[index + 1]!)
      if (type !== undefined) koa.set('Content-Type', type)
      koa.status = status
      koa.body = payload
      mark(ctx)
    },
  }
}

class Side implements KoaSide {
  handed: HandedValue | undefined = undefined
  missed: KoaSide['missed'] = undefined
  errorStatus = 0
  private readonly ctx: RequestContext
  private readonly own: KoaContext

  constructor(ctx: RequestContext, koa: KoaContext) {
    this.ctx = ctx
    this.own = koa
  }

  /** A guard may have found the user since the Koa context was made. */
  get koa(): KoaContext {
    linkUser(this.ctx, this.own)
    return this.own
  }

  takeBody(): unknown {
    return parsedInKoa(this.koa)
  }

  take(value: unknown): Outgoing | 'answered' | undefined {
    return takeFromKoa(this.ctx, this.koa, value)
  }

  statusOf(value: unknown): number | undefined {
    const { handed } = this
    return handed !== undefined && handed.value === value ? this.koa.status : undefined
  }

  drop(): void {
    discard(bodyOf(this.koa))
  }
}

/** Creates Koa's side of a request, with its Koa context. */
export function createSide(ctx: RequestContext, koa: KoaContext): KoaSide {
  return new Side(ctx, koa)
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the body that a Koa body parser set in `ctx.request.body`, together with the files of koa-body in
 * `ctx.request.files`; undefined without a parsed body. The options of the parser decide when files are deleted.
 */
function parsedInKoa({ request }: KoaContext): unknown {
  const { body, files } = request as { body?: unknown; files?: Fields }
  if (body === undefined || files === undefined) return body
  const uploaded = Object.entries(files).map(([name, found]) => [
    name,
    Array.isArray(found)
      ? found.map((each) => new UploadedFile(each))
      : new UploadedFile(found as UploadedFileFields),
  ])
  return { ...(body as Fields), ...(Object.fromEntries(uploaded) as Fields) }
}
