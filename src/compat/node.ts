/*
 * The private parts of Node that the core uses, all in this file. Nothing depends on them for correctness.
 *
 * - `IncomingMessage._dumped` and `_dump()` (Node 20 to 26): after a response, Node calls `_dump()` to drain the unread
 *   request body. That takes three turns of the event loop, even for a request without a body. The mark `_dumped`
 *   prevents it. Gain: ~1 µs per request, 5 to 15 % of a small one.
 * - The objects of `process.nextTick` (Node 20 to 26): V8 makes them fast only while one of them is alive. Gain:
 *   0.2 to 0.3 µs per `nextTick`, and a GET request has three, in every application with a garbage collection at start.
 * - `Socket._httpMessage`: the response that a connection is sending. Node's own handler of `clientError` reads it too.
 * - `_handle.setBlocking()` of a pipe: without it, a write to a full pipe may block the process; one warning reports it.
 * - `ServerResponse.writableEnded` and `writableFinished` may be replaced on a response that `app.inject()` or an upgrade
 *   has made, and `destroyed` set: Node closes only responses of its own.
 *
 * Checked by test/compat/node.test.ts.
 */
import { executionAsyncResource } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../contracts/logger.ts'

// Not `import 'node:http'`, which loads Node's fetch on Node 22 and later: see src/errors/status-names.ts.
const http = process.getBuiltinModule('node:http')

const isNode = process.versions['bun'] === undefined && process.versions['deno'] === undefined

interface Dumpable {
  _dumped?: boolean
  _dump?: () => void
}

/** Marks a request as completely read, for Node. */
export type MarkAsRead = (req: IncomingMessage) => void

/**
 * Returns the function that prevents the drain of an empty request. If the self-test fails, the function does nothing
 * and one log line reports it. Other runtimes have no `_dump()`; there nothing is logged.
 */
export function prepareMarkAsRead(logger: Logger, sample = sampleRequest): MarkAsRead {
  if (honoursMark(sample)) return (req) => void ((req as Dumpable)._dumped = true)
  if (isNode)
    logger.info(
      `Node ${process.version} ignores IncomingMessage._dumped; each request takes about 1 µs longer`,
    )
  return () => undefined
}

/** True if `_dump()` begins to read a request and ignores a marked one. */
function honoursMark(sample: () => IncomingMessage): boolean {
  const [marked, plain] = [sample(), sample()] as (IncomingMessage & Dumpable)[]
  if (marked!._dumped !== false || typeof marked!._dump !== 'function') return false
  marked!._dumped = true
  marked!._dump()
  plain!._dump!()
  return marked!.readableFlowing === null && plain!.readableFlowing === true
}

function sampleRequest(): IncomingMessage {
  const req = new http.IncomingMessage(undefined as unknown as Socket)
  req.push(null)
  return req
}

/**
 * Returns the response that a connection is sending; undefined without a response or in a runtime without this mark.
 */
export function currentResponse(socket: Socket): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined
}

const kept: object[] = []

/**
 * Keeps one object that `process.nextTick` made alive. Between two turns of the event loop there is often none. A full
 * garbage collection then drops the hidden class of these objects, and V8 never optimizes their literal again: one full
 * collection at the start makes every later `nextTick` of the process at least six times slower. Node only.
 */
export function keepNextTickFast(): void {
  if (isNode) process.nextTick(() => (kept[0] = executionAsyncResource()))
}

/** A stream of a pipe, as Node makes it. */
interface Pipe {
  readonly _handle?: { setBlocking?(isBlocking: boolean): void } | null
}

let hasWarned = false

/**
 * Makes writes to a full pipe fail with EAGAIN instead of waiting. Node does so when it opens the stream, but a child
 * process that inherits the pipe makes it blocking again for every process, such as a new worker when it starts, and
 * each process when it ends. So this comes directly before each write. Files and terminals stay as they are.
 */
export function keepUnblocked(stream: NodeJS.WriteStream): void {
  if (stream.isTTY) return
  const { _handle } = stream as Pipe
  if (_handle?.setBlocking !== undefined) return _handle.setBlocking(false)
  // Node writes to files through a stream without a socket.
  if (hasWarned || !isNode || !('setNoDelay' in stream)) return
  hasWarned = true
  process.emitWarning(
    `Node ${process.version} keeps the handle of a pipe elsewhere. A reader of the log that stops may block this process.`,
    { code: 'NODE_DIFFERS' },
  )
}

/**
 * Marks a response as sent, before its bytes have passed the stand-in for a socket. light-my-request closes it earlier,
 * and the request would count as aborted. A response 101 is sent by the code of its protocol.
 */
export function markAsSent(response: ServerResponse): void {
  const value = { value: true }
  Object.defineProperties(response, { writableEnded: value, writableFinished: value })
}

/** Closes a response without a connection, as Node does after one of its own. */
export function closeResponse(res: ServerResponse): void {
  if (res.destroyed) return
  res.destroyed = true
  res.emit('close')
}
