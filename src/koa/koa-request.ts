import type { IncomingMessage } from 'node:http'
import type Koa from 'koa'
import type { Forwarding } from '../context/client-address.ts'

/** The part of a Koa request that the getters below use. */
interface RequestView {
  readonly app: Koa
  readonly req: IncomingMessage
}

const ADDRESS = Symbol('address')

/**
 * Applies the application's `trustProxy` to `ip`, `ips`, `protocol`, `secure` and `host` of `ctx.koa`, so that they
 * agree with `ctx.ip`. With `app.koa.proxy` set, Koa's own rule applies, which trusts every peer.
 */
export function useForwarding(app: Koa, forwarding: Forwarding): void {
  const { request } = app
  const base = Object.getPrototypeOf(request) as object
  const own = (name: string, view: RequestView): unknown => Reflect.get(base, name, view)
  const define = (name: string, get: (this: RequestView) => unknown): void => {
    Object.defineProperty(request, name, { configurable: true, get })
  }
  // Koa's getters would trust every peer, and they do so by `app.proxy` alone.
  const believed = (view: RequestView, name: string): string | undefined =>
    view.app.proxy || !forwarding.trustsPeer(view.req) ? undefined : firstOf(view.req, name)
  define('protocol', function () {
    const direct = own('protocol', this)
    return direct === 'https' ? direct : (believed(this, 'x-forwarded-proto')?.toLowerCase() ?? direct)
  })
  define('host', function () {
    const host = believed(this, 'x-forwarded-host')
    return host === undefined ? own('host', this) : withoutUser(host)
  })
  define('ips', function () {
    return this.app.proxy ? own('ips', this) : forwarding.addresses(this.req)
  })
  Object.defineProperty(request, 'ip', {
    configurable: true,
    get(this: RequestView & { [ADDRESS]?: string }) {
      if (this.app.proxy) return this[ADDRESS] ?? own('ip', this)
      return (this[ADDRESS] ??= forwarding.clientAddress(this.req))
    },
    set(this: { [ADDRESS]?: string }, address: string) {
      this[ADDRESS] = address
    },
  })
}

/** Returns the first value of a header; undefined without one. */
function firstOf({ headers }: IncomingMessage, name: string): string | undefined {
  const [first = ''] = String(headers[name] ?? '').split(',', 1)
  return first.trim() || undefined
}

/** RFC 9110 §7.2: a host has no user. */
function withoutUser(host: string): string {
  if (!host.includes('@')) return host
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).host : ''
}
