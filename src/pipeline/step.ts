import type { RequestContext } from '../context/request-context.ts'

/** One thing that happens to a request before its handler; a promise makes the rest wait. */
export type Step = (ctx: RequestContext) => void | PromiseLike<void>
