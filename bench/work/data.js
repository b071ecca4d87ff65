/*
 * What every server under test does, apart from how: the records, the limits of valid input and the secret. Plain
 * JavaScript, because the servers run without a loader.
 */

/** Secret of the bearer tokens of workload d. */
export const SECRET = 'mB7xQ2vN9tKpL4sWzR6yHcJ8dFgA1eUuTo5iXqYw3Zk'
export const ISSUER = 'mortar'

/**
 * The record behind `GET /users/:id`: six fields that are sent and one that must not leave.
 * @param {number} id
 * @param {{ page: number, limit: number, q: string }} query
 */
export function findUser(id, { page, limit, q }) {
  return {
    id,
    name: `User number ${id}`,
    email: `user${id}@example.com`,
    page,
    limit,
    q,
    passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo',
  }
}

/** The six fields by hand, for servers without response schemas. */
export function publicUser({ id, name, email, page, limit, q }) {
  return { id, name, email, page, limit, q }
}

/** The response of `POST /orders`, 201. */
export function createOrder(order) {
  let quantity = 0
  for (const item of order.items) quantity += item.quantity
  return {
    reference: order.reference,
    customer: order.customer.name,
    email: order.customer.email,
    currency: order.currency,
    express: order.express,
    quantity,
    internalNote: 'must not leave',
  }
}

export function publicOrder({ reference, customer, email, currency, express, quantity }) {
  return { reference, customer, email, currency, express, quantity }
}

export const CURRENCIES = ['EUR', 'USD', 'GBP']
export const ZIP = /^\d{5}$/
/** The pattern of HTML's `<input type=email>`, for hand-written checks. */
export const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

/** The user of a token of workload d. */
export function userOfToken(index) {
  return { id: `user-${index}`, name: `User ${index}`, email: `user${index}@example.com` }
}

/** The claims of the tokens of workload d; like Mortar's own, for the same number of bytes to verify. */
export function claimsOf(index, now = Math.floor(Date.now() / 1000), lifetime = 86_400) {
  const user = userOfToken(index)
  return {
    iss: ISSUER,
    aud: ISSUER,
    sub: user.id,
    sid: `11111111-2222-4333-8444-${String(index).padStart(12, '0')}`,
    jti: `55555555-6666-4777-8888-${String(index).padStart(12, '0')}`,
    iat: now,
    exp: now + lifetime,
    user: { ...user, created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' },
  }
}

/** Names of the routes of workload e: `/res17/users/:id` and so on. */
export function routePrefix(index) {
  return `/res${index}/users`
}

/** Headers that workload f adds to each response, for servers that set them by hand. */
export const EXTRA_HEADERS = [
  [
    'Content-Security-Policy',
    "default-src 'self';base-uri 'self';font-src 'self' https: data:;form-action 'self';frame-ancestors 'self';img-src 'self' data:;object-src 'none';script-src 'self';script-src-attr 'none';style-src 'self' https: 'unsafe-inline';upgrade-insecure-requests",
  ],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Origin-Agent-Cluster', '?1'],
  ['Referrer-Policy', 'no-referrer'],
  ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-DNS-Prefetch-Control', 'off'],
  ['X-Download-Options', 'noopen'],
  ['X-Frame-Options', 'SAMEORIGIN'],
  ['X-Permitted-Cross-Domain-Policies', 'none'],
  ['X-XSS-Protection', '0'],
  ['Vary', 'Origin'],
  ['Access-Control-Allow-Origin', 'https://example.com'],
]

/** Fields of the line that workload n logs for each request, beside the logger's own `level`, `time` and `msg`. */
export const LOG_FIELDS = Object.freeze({
  event: 'string',
  requestId: 'string',
  method: 'string',
  path: 'string',
  route: 'string',
  status: 'number',
  ms: 'number',
  ip: 'string',
  aborted: 'boolean',
  msg: 'string',
})

/** The password of a user of workload g. */
export function passwordOf(index) {
  return `correct horse battery staple ${index}`
}
