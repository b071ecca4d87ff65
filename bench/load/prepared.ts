import type { WireRequest } from '../workloads/workload.ts'
import { headOf } from './wire.js'

/** Requests as bytes, for one transfer to the load generator in place of one for each round. */
export interface PreparedRequests {
  /** All requests after one another, without their tails. */
  readonly bytes: Uint8Array
  /** The end of each of them in `bytes`. */
  readonly ends: Uint32Array
  readonly tails: readonly Uint8Array[]
  /** Index of each request's tail, or -1. */
  readonly tailOf: Int16Array
}

/** Turns requests into the bytes of HTTP/1.1. */
export function prepare(requests: readonly WireRequest[]): PreparedRequests {
  const tails = [...new Set(requests.flatMap(({ tail }) => (tail === undefined ? [] : [tail])))]
  const indexes = new Map(tails.map((tail, index) => [tail, index]))
  const encoded = tails.map((tail) => Buffer.from(tail))
  const tailOf = Int16Array.from(requests, ({ tail }) => (tail === undefined ? -1 : indexes.get(tail)!))
  const parts = requests.map((request, index) => {
    const tail = tailOf[index]!
    return Buffer.from(headOf(request, tail === -1 ? 0 : encoded[tail]!.length))
  })
  let end = 0
  const ends = Uint32Array.from(parts, ({ length }) => (end += length))
  return { bytes: Buffer.concat(parts), ends, tails: encoded, tailOf }
}
