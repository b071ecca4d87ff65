import type { Check, WireRequest } from './workload.ts'

/** A GET request. */
export function get(path: string, headers: Readonly<Record<string, string>> = {}): WireRequest {
  return { method: 'GET', path, headers }
}

/** A POST request with a JSON body; `tail` is appended to the body's text. */
export function post(path: string, body: string, tail?: string): WireRequest {
  const headers = { 'content-type': 'application/json' }
  return { method: 'POST', path, headers, body, ...(tail === undefined ? {} : { tail }) }
}

/** The numbers from 0 to `count` - 1. */
export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

/** Every application responds with 404 to an unknown path. */
export const missing: Check = { request: get('/nothing/here'), status: 404 }

/** A token with another signature: one character in its middle differs, because the last has bits that count for nothing. */
export function forged(token: string): string {
  const at = token.length - 10
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
}
