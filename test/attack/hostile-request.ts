import type { Random } from '../schema/support/random.ts'
import { nastyForm, nastyJsonText, nastyMultipart, nastyText, nastyUrlPart, some } from './hostile-values.ts'

/** Bytes to send, in the pieces in which to send them. */
export interface HostileRequest {
  readonly pieces: readonly Buffer[]
  /** True if the server may end the connection without a response. */
  readonly mayBeCut: boolean
}

const PATHS = [
  '/',
  '/json',
  '/search',
  '/raw',
  '/users/1',
  '/users/x',
  '/users/1/files/a/b',
  '/files/a',
  '/headers',
  '/zod',
  '/stream',
  '/me',
  '/admin',
  '/shown',
  '/items',
  '/items/1',
  '/mixed',
  '/form',
  '/echo',
  '/docs',
  '/openapi.json',
  '/nowhere',
  '/JSON',
  '/json/',
  '//json',
  '/../json',
]
const METHODS = [
  'GET',
  'GET',
  'GET',
  'HEAD',
  'POST',
  'POST',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'M-SEARCH',
]
const TYPES = [
  'application/json',
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'application/json;;=',
  'application/vnd.api+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=B',
  'multipart/form-data',
  'multipart/form-data; boundary=""',
  'text/plain',
  'text/html; charset=latin1',
  'application/octet-stream',
  'application/xml',
  '',
  ';',
  '__proto__',
  'a/b/c',
]
const HEADERS = [
  'Authorization: Bearer admin',
  'Authorization: Bearer ada',
  'Authorization: Bearer bad',
  'Authorization: Bearer',
  'Authorization: Bearer a b',
  'Authorization: Basic x',
  'Authorization: Bearer async-ada',
  'Cookie: access_token=ada',
  'Cookie: =; ;;a=b; __proto__=1; access_token="x"',
  `Cookie: ${'a=b; '.repeat(500)}`,
  'X-Tenant: t',
  'X-N: 1',
  'X-N: NaN',
  '__proto__: x',
  'constructor: x',
  'X-Request-Id: \xff<script>',
  `X-Request-Id: ${'a'.repeat(500)}`,
  'X-Forwarded-For: 1.2.3.4, garbage, ::1, [::1]:80',
  'X-Forwarded-For: ,,,',
  'X-Forwarded-Proto: javascript',
  'Origin: null',
  'Origin: http://[',
  'Sec-Fetch-Site: cross-site',
  'Accept: */*;q=x',
  'Accept-Encoding: gzip;q=2, *;q=0',
  'If-None-Match: W/',
  'If-Modified-Since: never',
  'Range: bytes=9-1',
  'Content-Encoding: gzip',
  'Content-Encoding: br',
  'Content-Encoding: deflate, gzip',
  'Content-Encoding: identity',
  'Content-Encoding: toString',
  'Expect: 100-continue',
  'Expect: nothing',
  'Upgrade: websocket',
  'Connection: Upgrade, close',
  'Connection: keep-alive',
  'TE: trailers',
  'Trailer: X',
  'Via: 1.1 x',
  'Host: other',
  'X-Latin: \xe9\xff',
  'Transfer-Encoding: identity',
  'Content-Length: 3',
  'Content-Length: -1',
  'Content-Length: 1e3',
  'X : spaced',
  ' folded',
  'X-Nul: a\0b',
  `X-Long: ${'y'.repeat(17_000)}`,
]

/** The next request of a seeded series. */
export function hostileRequest(random: Random): HostileRequest {
  if (random.chance(1 / 40)) return { pieces: [garbage(random)], mayBeCut: true }
  if (random.chance(1 / 30)) return pipelined(random)
  const bytes = message(random, random.pick(METHODS))
  // TCP resets a connection that is closed with bytes unread, and the response may be lost with it.
  const isLarge = bytes.length > 16_384
  if (random.chance(1 / 12))
    return { pieces: [bytes.subarray(0, random.below(bytes.length))], mayBeCut: true }
  if (random.chance(1 / 12)) return { pieces: slices(random, bytes), mayBeCut: isLarge }
  return { pieces: [bytes], mayBeCut: isLarge }
}

function message(random: Random, method: string, connection = 'close'): Buffer {
  const body = random.chance(1 / 3) && method === 'GET' ? '' : bodyOf(random)
  const type = random.pick(TYPES)
  const head = [
    `${method} ${target(random)} ${random.chance(1 / 15) ? 'HTTP/1.0' : 'HTTP/1.1'}`,
    random.chance(1 / 40) ? 'X-No-Host: 1' : 'Host: localhost',
    `Connection: ${connection}`,
    ...(random.chance(1 / 8) ? [] : [`Content-Type: ${type}`]),
    ...some(random, HEADERS, random.chance(1 / 6) ? 12 : 2),
  ]
  return framed(random, head, Buffer.isBuffer(body) ? body : Buffer.from(body))
}

function framed(random: Random, head: readonly string[], body: Buffer): Buffer {
  const [framing, content] = framingOf(random, body)
  return Buffer.concat([Buffer.from(`${[...head, ...framing].join('\r\n')}\r\n\r\n`, 'latin1'), content])
}

/** Mostly right, sometimes the two lengths of request smuggling or a length that is not the body's. */
function framingOf(random: Random, body: Buffer): [readonly string[], Buffer] {
  const chunked = Buffer.concat([
    Buffer.from(`${body.length.toString(16)}\r\n`),
    body,
    Buffer.from('\r\n0\r\n\r\n'),
  ])
  const length = `Content-Length: ${body.length}`
  if (random.chance(1 / 6))
    return [['Transfer-Encoding: chunked'], body.length > 0 ? chunked : Buffer.from('0\r\n\r\n')]
  if (random.chance(1 / 25)) return [['Transfer-Encoding: chunked', length], chunked]
  if (random.chance(1 / 25)) return [['Transfer-Encoding: chunked'], Buffer.from('zz\r\nx\r\n')]
  if (random.chance(1 / 25)) return [[length, `Content-Length: ${body.length + 1}`], body]
  if (random.chance(1 / 25))
    return [[`Content-Length: ${random.pick([0, 1, body.length + 5, 99_999_999_999])}`], body]
  return [body.length > 0 ? [length] : [], body]
}

function target(random: Random): string {
  const path = random.pick(PATHS)
  const parts = random.chance(1 / 3)
    ? `/${Array.from({ length: random.below(4) }, () => nastyUrlPart(random)).join('/')}`
    : ''
  const query = random.chance(1 / 2) ? `?${nastyForm(random)}` : ''
  const forms = [
    `http://evil.example${path}${query}`,
    '*',
    `//${path}`,
    `${path};a=b${query}`,
    `${path}#x`,
    `HTTP://u:p@h:1${query}`,
  ]
  return random.chance(1 / 12) ? random.pick(forms) : `${path}${parts}${query}`
}

function bodyOf(random: Random): string | Buffer {
  const kinds = [
    nastyJsonText,
    nastyJsonText,
    nastyForm,
    nastyMultipart,
    nastyText,
    () => 'x'.repeat(70_000),
    () => '',
  ]
  return random.pick<(random: Random) => string | Buffer>(kinds)(random)
}

function slices(random: Random, bytes: Buffer): Buffer[] {
  const cuts = Array.from({ length: 1 + random.below(6) }, () => random.below(bytes.length)).toSorted(
    (a, b) => a - b,
  )
  return [0, ...cuts].map((cut, index) => bytes.subarray(cut, cuts[index] ?? bytes.length))
}

function pipelined(random: Random): HostileRequest {
  const messages = Array.from({ length: 1 + random.below(4) }, () => message(random, 'POST', 'keep-alive'))
  return { pieces: [Buffer.concat([...messages, message(random, 'GET')])], mayBeCut: true }
}

function garbage(random: Random): Buffer {
  const kinds = [
    '\0\0\0\0',
    'GET\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'get / HTTP/1.1\r\n\r\n',
    '\x16\x03\x01\x00\xa5',
    '',
    '\r\n\r\n\r\n',
    `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`,
  ]
  return Buffer.from(random.pick(kinds), 'latin1')
}
