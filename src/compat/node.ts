/*
 * The private parts of Node that the core uses, all in this file. Nothing depends on them for correctness.
 *
 * - `IncomingMessage._dumped` and `_dump()` (Node 20 to 26): once a response is finished, Node calls `_dump()` to read
 *   what is left of the request. That takes three turns of the event loop, also for a request without a body. The mark
 *   says that it was done. Gain: ~1 µs per request, 5 to 15 % of a small one.
 * - `Socket._httpMessage`: the response that a connection is sending. Node's own handler of `clientError` reads it too.
 *
 * Checked by test/compat/node.test.ts.
 */
import { IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../contracts/logger.ts'

interface Dumpable {
  _dumped?: boolean
  _dump?: () => void
}

/** Tells Node that nothing is left to read of a request. */
export type MarkAsRead = (req: IncomingMessage) => void

/**
 * Returns the function that spares Node the reading of an empty request. If the self-test fails, the function does
 * nothing, and one line in the log says so; not in other runtimes, which have no `_dump()` to spare.
 */
export function prepareMarkAsRead(logger: Logger, sample = sampleRequest): MarkAsRead {
  if (honoursMark(sample)) return (req) => void ((req as Dumpable)._dumped = true)
  if (process.versions['bun'] === undefined && process.versions['deno'] === undefined)
    logger.info(`Node ${process.version} ignores IncomingMessage._dumped; each request costs some 1 µs more`)
  return () => undefined
}

/** True if `_dump()` begins to read a request, and leaves a marked one alone. */
function honoursMark(sample: () => IncomingMessage): boolean {
  const [marked, plain] = [sample(), sample()] as (IncomingMessage & Dumpable)[]
  if (marked!._dumped !== false || typeof marked!._dump !== 'function') return false
  marked!._dumped = true
  marked!._dump()
  plain!._dump!()
  return marked!.readableFlowing === null && plain!.readableFlowing === true
}

function sampleRequest(): IncomingMessage {
  const req = new IncomingMessage(undefined as unknown as Socket)
  req.push(null)
  return req
}

/** The response that a connection is sending; undefined if there is none, or the runtime has no such mark. */
export function currentResponse(socket: Socket): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined
}
