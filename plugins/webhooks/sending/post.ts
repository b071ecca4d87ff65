import type { LookupAddress } from 'node:dns'
import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps, type RequestOptions } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { callbackify } from 'node:util'
import { describeError } from 'mortar/kit'
import type { LookUp } from './look-up.ts'
import { isReachable, type Network } from './public-address.ts'

/** Bytes of a response that are read. Nothing of them is kept. */
const MOST_BYTES = 65_536
const MOST_HEADER_BYTES = 16_384

/** A request to an address that a customer has chosen. */
export interface Post {
  readonly url: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds for everything: look-up, connection, response. */
  readonly timeout: number
  readonly signal: AbortSignal
  readonly allowed: readonly Network[]
  readonly lookup: LookUp
}

/** An address that is not public. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress'
  constructor() {
    super('The address is not public.')
  }
}

/**
 * Sends a request over a connection of its own and resolves with the status of the response. Redirects are not followed.
 * The addresses of the name are checked by the look-up that the connection uses, and again on the open socket, so that
 * another DNS answer changes nothing.
 * @throws RefusedAddress, and the error of the connection.
 */
export async function post({ url, body, headers, timeout, signal, allowed, lookup }: Post): Promise<number> {
  const target = new URL(url)
  const isTls = target.protocol === 'https:'
  const host = target.hostname.replace(/^\[|\]$/g, '')
  // Node calls no look-up for an address.
  if (isIP(host) !== 0 && !isReachable(host, allowed)) throw new RefusedAddress()
  const options: RequestOptions = {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' },
    // Neither a kept connection nor a proxy of the environment: the check is for this connection.
    agent: isTls ? new HttpsAgent({ keepAlive: false }) : new HttpAgent({ keepAlive: false }),
    lookup: checkedLookup(lookup, allowed),
    maxHeaderSize: MOST_HEADER_BYTES,
    signal,
  }
  return new Promise((resolve, reject) => {
    const request = (isTls ? requestHttps : requestHttp)(target, options)
    // Not `AbortSignal.any([signal, AbortSignal.timeout()])`: Node 20 loses such a timeout when it collects memory.
    const timer = setTimeout(() => {
      reject(new DOMException('No response in time.', 'TimeoutError'))
      request.destroy()
    }, timeout)
    const refuse = (): void => void request.destroy(new RefusedAddress())
    request.on('socket', (socket: Socket) => {
      socket.once('connect', () => isReachable(socket.remoteAddress ?? '', allowed) || refuse())
    })
    let found: IncomingMessage | undefined
    request.on('response', (response) => {
      found = response
      void drain(response).then(() => resolve(response.statusCode!), reject)
    })
    // Bytes behind a whole response, such as the body of a 204, are an error of Node.
    request.on('error', (error) => found?.complete || reject(error))
    // Node ends a connection whose protocol changes without an error, and the timeout no longer reaches it.
    request.on('close', () => {
      clearTimeout(timer)
      if (found === undefined) reject(new Error('The connection has ended without a response.'))
    })
    request.end(body)
  })
}

/** Refuses a name if any of its addresses is not public. */
function checkedLookup(lookup: LookUp, allowed: readonly Network[]): LookupFunction {
  const find = callbackify(async (name: string): Promise<LookupAddress[]> => {
    const found = await (async () => lookup(name))().catch(throwReadable)
    if (found.length > 0 && found.every(({ address }) => isReachable(address, allowed))) return [...found]
    throw new RefusedAddress()
  })
  return (name, options, done) =>
    find(name, (error, found) => {
      if (error !== null) return done(error, [])
      return options.all ? done(null, found) : done(null, found[0]!.address, found[0]!.family)
    })
}

/** Node reads the error of a look-up, and one that cannot be read would end the process. */
function throwReadable(thrown: unknown): never {
  const { type, ...read } = describeError(thrown)
  throw Object.assign(new Error(), read, { name: type })
}

/** Reads a response to its end, or to the largest size. */
async function drain(response: IncomingMessage): Promise<void> {
  let bytes = 0
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length
    // Leaving the loop destroys the connection.
    if (bytes > MOST_BYTES) return
  }
}
