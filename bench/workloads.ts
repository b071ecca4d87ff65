import {
  createOrder,
  findUser,
  publicOrder,
  publicUser,
  routePrefix,
  userOfToken,
  VARIETY,
} from './work/data.js'

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A request with the answer that every server must give. */
export interface Check {
  readonly request: WireRequest
  readonly status: number
  readonly json?: unknown
  /** `location.path` of every issue of a 422. */
  readonly issues?: readonly string[]
  /** Response headers that must be there. */
  readonly headers?: readonly string[]
}

/** One kind of work that all servers do. */
export interface Workload {
  readonly id: string
  readonly title: string
  /** Which application a server starts, with a setting after a colon, and how many routes or tokens it has. */
  readonly app: string
  readonly size: number
  readonly without?: readonly string[]
  /** Valid requests, sent in turn. */
  requests(tokens: readonly string[]): WireRequest[]
  checks(tokens: readonly string[]): Check[]
}

const USER_HEADERS = [
  'x-content-type-options',
  'x-frame-options',
  'access-control-allow-origin',
  'x-request-id',
]
/** Those who verify each token in any case: what d says of them holds. */
const UNCACHED = ['h3', 'hono', 'koa', 'koa-stack', 'nest', 'express']
const SIZES = [10, 100, 1000, 10_000]

/** Every workload but g, which measures something else. */
export const WORKLOADS: readonly Workload[] = [
  {
    id: 'a',
    title: 'GET hello, JSON',
    app: 'hello',
    size: 0,
    requests: () => [get('/')],
    checks: () => [{ request: get('/'), status: 200, json: { hello: 'world' } }, missing],
  },
  userWorkload({
    id: 'b',
    title: 'GET with validated params and query, 6-field response',
    app: 'user',
    size: 0,
  }),
  {
    id: 'c',
    title: 'POST of a nested 10-field body, validated, 201',
    app: 'order',
    size: 0,
    requests: () => range(VARIETY).map((index) => post('/orders', orderOf(index))),
    checks: orderChecks,
  },
  guardedWorkload('d', `GET guarded by an HS256 bearer token, ${VARIETY} users`, VARIETY),
  {
    ...guardedWorkload('d:off', 'the same without a cache of verified tokens', VARIETY),
    app: 'me:off',
    without: UNCACHED,
  },
  guardedWorkload('d:many', 'as d with 12,000 tokens in turn, more than any cache holds', 12_000),
  ...SIZES.flatMap((size) =>
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
      }),
    ),
  ),
  userWorkload({
    id: 'f',
    title: 'as b through helmet, cors and request id',
    app: 'middleware',
    size: 0,
    headers: { origin: 'https://example.com' },
    answers: USER_HEADERS,
    without: ['h3'],
  }),
]

interface UserWorkload extends Pick<Workload, 'id' | 'title' | 'app' | 'size' | 'without'> {
  readonly prefix?: string
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Response headers that must be there. */
  readonly answers?: readonly string[]
}

function userWorkload({
  prefix = '/users',
  headers = {},
  answers = [],
  ...workload
}: UserWorkload): Workload {
  const user = (id: string | number, query: string): WireRequest => get(`${prefix}/${id}?${query}`, headers)
  return {
    ...workload,
    requests: () =>
      range(VARIETY).map((index) => user(1000 + index, `page=${index + 1}&limit=20&q=term${index}`)),
    checks: () => [
      {
        request: user(7, 'page=2&limit=10&q=a%20b'),
        status: 200,
        json: publicUser(findUser(7, { page: 2, limit: 10, q: 'a b' })),
        headers: answers,
      },
      { request: user('seven', 'page=2&limit=10&q=x'), status: 422, issues: ['params.id'], headers: answers },
      { request: user(7, 'page=0&limit=101&q=x'), status: 422, issues: ['query.limit', 'query.page'] },
      { request: user(7, 'page=1&limit=10'), status: 422, issues: ['query.q'] },
      missing,
    ],
  }
}

function guardedWorkload(id: string, title: string, size: number): Workload {
  const me = (token: string): WireRequest => get('/me', { authorization: `Bearer ${token}` })
  return {
    id,
    title,
    app: 'me',
    size,
    requests: (tokens) => tokens.map(me),
    checks: (tokens) => [
      ...[0, size - 1].map((index) => ({
        request: me(tokens[index]!),
        status: 200,
        json: userOfToken(index),
      })),
      { request: get('/me'), status: 401 },
      { request: me(`${tokens[0]!.slice(0, -2)}xx`), status: 401 },
      { request: me(UNSIGNED), status: 401 },
    ],
  }
}

const UNSIGNED = `${encode({ alg: 'none', typ: 'JWT' })}.${encode({ sub: 'user-0', exp: 4e9 })}.`

function orderChecks(): Check[] {
  const order = orderOf(3)
  const wrong = (changes: object, issues: readonly string[]): Check => ({
    request: post('/orders', { ...order, ...changes }),
    status: 422,
    issues,
  })
  return [
    { request: post('/orders', order), status: 201, json: publicOrder(createOrder(order)) },
    wrong({ reference: undefined, currency: 'XXX' }, ['body.currency', 'body.reference']),
    wrong({ address: { ...order.address, zip: '1234' } }, ['body.address.zip']),
    wrong({ customer: { ...order.customer, email: 'nobody' } }, ['body.customer.email']),
    wrong({ items: [{ sku: 'a', quantity: 0 }] }, ['body.items[0].quantity']),
    { request: { ...post('/orders', order), body: '{"reference":' }, status: 400 },
    missing,
  ]
}

/** Bodies of some 430 bytes. */
function orderOf(index: number) {
  return {
    reference: `order-${2026_000 + index}`,
    customer: { name: `Customer number ${index}`, email: `customer${index}@example.com` },
    address: { street: `${index} Long Street`, city: 'Springfield', zip: String(10_000 + index) },
    currency: ['EUR', 'USD', 'GBP'][index % 3],
    express: index % 2 === 0,
    items: range(3).map((item) => ({ sku: `sku-${index}-${item}`, quantity: item + 1 })),
    note: 'Leave it with the neighbours when nobody is in.',
  }
}

const missing: Check = { request: get('/nothing/here'), status: 404 }

function get(path: string, headers: Readonly<Record<string, string>> = {}): WireRequest {
  return { method: 'GET', path, headers }
}

function post(path: string, value: unknown): WireRequest {
  return {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(value),
  }
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
