import { Server, type IncomingMessage } from 'node:http'
import { Server as TlsServer } from 'node:https'
import { ignore } from '../../support/ignore.ts'
import type { LaterRoutes } from './load-later.ts'

const REQUESTS = new Set(['request', 'checkContinue', 'checkExpectation'])

/**
 * Holds every request of this process until the routes that it may need are in use.
 * @returns a function that ends this.
 */
export function holdRequests(later: LaterRoutes): () => void {
  const prototypes = [Server.prototype, TlsServer.prototype]
  for (const prototype of prototypes) {
    const { emit } = prototype
    prototype.emit = function (event: string, ...values: unknown[]): boolean {
      if (!REQUESTS.has(event)) return Reflect.apply(emit, this, [event, ...values]) as boolean
      const { method = '', url = '' } = values[0] as IncomingMessage
      const serve = (): unknown => Reflect.apply(emit, this, [event, ...values])
      void later.prepare(method, url).catch(ignore).then(serve)
      return true
    }
  }
  return () => {
    for (const prototype of prototypes) Reflect.deleteProperty(prototype, 'emit')
  }
}
