import type { Middleware as KoaMiddleware } from 'koa'
import type { KoaContext } from '../context/context.ts'
import type { NamedMiddleware } from '../routing/route.ts'
import { ignore } from '../support/ignore.ts'
import { calledTwice } from './step.ts'

/** A Koa middleware with its name for messages. */
export interface KoaLink {
  readonly named: NamedMiddleware
  readonly run: KoaMiddleware
}

/** A middleware that ended while its `next()` was still running. */
export interface Unawaited {
  readonly by: NamedMiddleware
  readonly inside: Promise<unknown>
}

/** The calls of adjacent Koa middleware in one request. */
export class KoaCalls {
  /** The first middleware that did not wait for its `next()`. */
  unawaited: Unawaited | undefined = undefined
  private readonly links: readonly KoaLink[]
  private readonly koa: KoaContext
  private readonly next: () => Promise<unknown>
  private begun = 0
  /** The promise of each call, until it settles. */
  private readonly running: (Promise<unknown> | undefined)[] = []

  constructor(links: readonly KoaLink[], koa: KoaContext, next: () => Promise<unknown>) {
    this.links = links
    this.koa = koa
    this.next = next
  }

  /** Runs the middleware at this index around the following ones. The index after the last middleware runs `next`. */
  call(index: number): Promise<unknown> {
    if (index < this.begun) return this.refuse(index)
    this.begun = index + 1
    const link = this.links[index]
    const promise = link === undefined ? this.next() : this.start(link.run, index)
    this.running[index] = promise
    const close = (): void => this.close(index)
    // Also prevents an unhandled rejection, which would end the process.
    promise.then(close, close)
    return promise
  }

  /** Runs a middleware asynchronously, as Koa does, whatever it returns or throws. */
  private start(run: KoaMiddleware, index: number): Promise<unknown> {
    try {
      return Promise.resolve(run(this.koa, () => this.call(index + 1)))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Rejects, as koa-compose does. An unhandled rejection does not end the process. */
  private refuse(index: number): Promise<never> {
    const refused = Promise.reject<never>(calledTwice(this.links[index - 1]!.named))
    refused.catch(ignore)
    return refused
  }

  private close(index: number): void {
    const inside = this.running[index + 1]
    if (inside !== undefined) this.unawaited ??= { by: this.links[index]!.named, inside }
    this.running[index] = undefined
  }
}
