import { findUser, LOG_FIELDS, publicUser, routePrefix } from '../work/data.js'
import { get, missing, range } from './requests.ts'
import { MAIN_SERVERS, SERVERS, VARIETY, type WireRequest, type Workload } from './workload.ts'

interface UserWorkload extends Omit<Workload, 'requests' | 'checks'> {
  readonly prefix?: string
  /** Prefix of the path of each request, in place of one for all. */
  readonly prefixOf?: (index: number) => string
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Required response headers. */
  readonly answers?: readonly string[]
}

/** Workload b. */
export const user = userWorkload({
  id: 'b',
  title: 'GET with validated params and query, 6-field response',
  app: 'user',
  size: 0,
  peers: SERVERS,
})

/** Workload e: `e:1000:last` and so on. */
export const routes: readonly Workload[] = [10, 100, 1000, 10_000].flatMap((size) =>
  (
    [
      ['first', 0],
      ['middle', size / 2],
      ['last', size - 1],
    ] as const
  ).map(([position, index]) =>
    userWorkload({
      id: `e:${size}:${position}`,
      title: `as b, ${position} of ${size} routes`,
      app: 'routes',
      size,
      prefix: routePrefix(index),
      // A router that compares one pattern after another needs milliseconds for 10,000 routes.
      ...(size === 1000 && position === 'last'
        ? { peers: MAIN_SERVERS, morePeers: SERVERS }
        : { peers: ['raw', 'raw-tuned', 'mortar', 'fastify'], morePeers: SERVERS }),
    }),
  ),
)

/** Part of e: each of 1,000 routes, in turn, with schemas of its own. */
export const evenly: Workload = userWorkload({
  id: 'e:1000:evenly',
  title: 'as b, each of 1,000 routes in turn, with schemas of its own',
  app: 'routes:own',
  size: 1000,
  prefixOf: (index) => routePrefix(index % 1000),
  peers: ['raw', 'raw-tuned', 'mortar', 'fastify'],
})

/** Workload f. */
export const middleware = userWorkload({
  id: 'f',
  title: 'as b through helmet, cors and request id',
  app: 'middleware',
  size: 0,
  headers: { origin: 'https://example.com' },
  answers: ['x-content-type-options', 'x-frame-options', 'access-control-allow-origin', 'x-request-id'],
  peers: MAIN_SERVERS,
  morePeers: ['nest', 'express'],
})

/** Workload n. */
export const logging = userWorkload({
  id: 'n',
  title: 'as b with one line of JSON logged per request',
  app: 'user:log',
  size: 0,
  peers: ['raw', 'mortar', 'fastify', 'koa-stack'],
  morePeers: ['raw-tuned'],
  extra: [
    { name: 'mortar, no log', peer: 'mortar', app: 'user' },
    { name: 'fastify, no log', peer: 'fastify', app: 'user' },
  ],
  logFields: LOG_FIELDS,
})

function userWorkload({
  prefix = '/users',
  prefixOf = () => prefix,
  headers = {},
  answers = [],
  ...workload
}: UserWorkload): Workload {
  const find = (id: string | number, query: string, index = 0): WireRequest =>
    get(`${prefixOf(index)}/${id}?${query}`, headers)
  return {
    ...workload,
    requests: () =>
      range(VARIETY).map((index) =>
        find(
          1000 + index,
          `page=${(index % 900) + 1}&limit=${(index % 100) + 1}&q=term${index % 7919}`,
          index,
        ),
      ),
    checks: () => [
      {
        request: find(7, 'page=2&limit=10&q=a%20b'),
        status: 200,
        json: publicUser(findUser(7, { page: 2, limit: 10, q: 'a b' })),
        headers: answers,
      },
      { request: find('seven', 'page=2&limit=10&q=x'), status: 422, issues: ['params.id'], headers: answers },
      { request: find(7, 'page=0&limit=101&q=x'), status: 422, issues: ['query.limit', 'query.page'] },
      { request: find(7, 'page=1&limit=10'), status: 422, issues: ['query.q'] },
      missing,
    ],
  }
}
