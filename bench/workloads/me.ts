import { userOfToken } from '../work/data.js'
import { forged, get, range } from './requests.ts'
import { SERVERS, VARIETY, type WireRequest, type Workload } from './workload.ts'

/** Clients of workload d: each sends its token until it expires. */
const CLIENTS = 32

/** Workload d. */
export const guarded = guardedWorkload({
  id: 'd',
  title: `GET guarded by an HS256 bearer token, ${CLIENTS} users with a token each`,
  app: 'me',
  size: CLIENTS,
  peers: SERVERS,
})

/** Workload d:off. */
export const uncached = guardedWorkload({
  id: 'd:off',
  title: 'as d without a cache of verified tokens',
  app: 'me:off',
  size: CLIENTS,
  // The others verify every token anyway: their figures of d apply.
  peers: ['raw', 'raw-tuned', 'mortar', 'fastify'],
})

/** Workload d:many. */
export const manyTokens = guardedWorkload({
  id: 'd:many',
  title: 'as d with 100,000 tokens in turn, ten times as many as the largest cache holds',
  app: 'me',
  size: 100_000,
  peers: ['raw', 'raw-tuned', 'mortar', 'fastify', 'koa', 'koa-stack'],
  morePeers: SERVERS,
})

function guardedWorkload(workload: Omit<Workload, 'requests' | 'checks'>): Workload {
  const { size } = workload
  const me = (token: string, query = ''): WireRequest =>
    get(`/me${query}`, { authorization: `Bearer ${token}` })
  return {
    ...workload,
    requests: (tokens) =>
      range(Math.max(VARIETY, size)).map((index) => me(tokens[index % size]!, `?visit=${index}`)),
    checks: (tokens) => [
      ...[0, size - 1].map((index) => ({
        request: me(tokens[index]!),
        status: 200,
        json: userOfToken(index),
      })),
      { request: get('/me'), status: 401 },
      { request: me(forged(tokens[0]!)), status: 401 },
      { request: me(UNSIGNED), status: 401 },
    ],
  }
}

const UNSIGNED = `${encode({ alg: 'none', typ: 'JWT' })}.${encode({ sub: 'user-0', exp: 4e9 })}.`

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
