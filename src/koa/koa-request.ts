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
  // Koa's getters read `app.proxy`.
  const believing = Object.create(app, { proxy: { value: true } }) as Koa
  for (const name of ['protocol', 'host'])
    define(name, function () {
      const isBelieved = !this.app.proxy && forwarding.trustsPeer(this.req)
      return own(
        name,
        isBelieved ? (Object.create(this, { app: { value: believing } }) as RequestView) : this,
      )
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
