import type { Middleware as KoaMiddleware } from 'koa'
import type { KoaContext } from '../context/context.ts'
import type { NamedMiddleware } from '../routing/route.ts'
import { markThrownByKoa } from '../context/thrown.ts'
import { ignore } from '../support/ignore.ts'
import { calledTwice } from '../pipeline/step.ts'

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

const DONE = Promise.resolve()

/** The calls of adjacent Koa middleware in one request. */
export class KoaCalls {
  /** The first middleware that did not wait for its `next()`. */
  unawaited: Unawaited | undefined = undefined
  private readonly links: readonly KoaLink[]
  private readonly koa: KoaContext
  private readonly next: () => Promise<unknown> | undefined
  private begun = 0
  /** The error of the inner pipeline, which no Koa code has thrown. */
  private innerError: unknown = undefined
  /** The number of calls that are running. They end from the inside to the outside, unless one does not wait. */
  private running = 0

  constructor(links: readonly KoaLink[], koa: KoaContext, next: () => Promise<unknown> | undefined) {
    this.links = links
    this.koa = koa
    this.next = next
  }

  /** Runs the middleware at this index around the following ones. The index after the last middleware runs `next`. */
  call(index: number): Promise<unknown> {
    if (index < this.begun) return this.refuse(index)
    this.begun = this.running = index + 1
    if (index < this.links.length) return this.start(index, this.links[index]!)
    const promise = this.next()
    if (promise === undefined) {
      this.running = index
      return DONE
    }
    const close = (): void => void (this.running = Math.min(this.running, index))
    promise.then(close, (error: unknown) => {
      this.innerError = error
      close()
    })
    return promise
  }

  private start(index: number, { named, run }: KoaLink): Promise<unknown> {
    let inside: Promise<unknown> | undefined
    const { req } = this.koa
    const wasRead = req.readableDidRead
    const next = (): Promise<unknown> => {
      const called = this.call(index + 1)
      inside ??= called
      return called
    }
    const close = (): void => {
      if (this.running > index + 1) this.unawaited ??= { by: named, inside: inside! }
      this.running = Math.min(this.running, index)
    }
    const promise = begin(run, this.koa, next)
    // Also prevents an unhandled rejection, which would end the process.
    promise.then(close, (error: unknown) => {
      close()
      // Set by a body parser that has finished.
      const { body } = this.koa.request as { readonly body?: unknown }
      const isReading = inside === undefined && !wasRead && req.readableDidRead && body === undefined
      if (error !== this.innerError) markThrownByKoa(error, isReading ? 'reading' : 'code')
    })
    return promise
  }

  /** Rejects, as koa-compose does. An unhandled rejection does not end the process. */
  private refuse(index: number): Promise<never> {
    const refused = Promise.reject<never>(calledTwice(this.links[index - 1]!.named))
    refused.catch(ignore)
    return refused
  }
}

/** The error for a function that makes Koa middleware, such as `cors` in place of `cors()`. Its `next()` never runs. */
function notCalled({ name }: KoaMiddleware): TypeError {
  const call = name === '' ? 'middleware' : name
  return new TypeError(`fromKoa() was given ${call}, which returned a function. Call it: fromKoa(${call}()).`)
}

/** Runs a middleware asynchronously, as Koa does, whatever it returns or throws. */
function begin(run: KoaMiddleware, koa: KoaContext, next: () => Promise<unknown>): Promise<unknown> {
  try {
    const result: unknown = run(koa, next)
    if (typeof result === 'function') throw notCalled(run)
    return Promise.resolve(result)
  } catch (error) {
    return Promise.reject(error)
  }
}
