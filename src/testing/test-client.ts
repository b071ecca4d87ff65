import { text } from 'node:stream/consumers'
import type * as ToughCookie from 'tough-cookie'
import type { InjectRequest, InjectResponse } from '../app/serve/inject.ts'
import { loadPeer } from '../peers/load-peer.ts'
import { checkPeers } from '../peers/peer-errors.ts'
import type { PeerNeed } from '../peers/peers.ts'
import { parsedJson } from './parsed-json.ts'
import { readEvents, type TestEvents } from './test-events.ts'

const need: PeerNeed = {
  of: 'mortar/testing',
  peers: {
    from: import.meta.url,
    packages: ['light-my-request', 'tough-cookie'],
    development: true,
  },
}

/** The part of an application that a client uses. */
export interface Injectable {
  inject(request: InjectRequest): Promise<InjectResponse>
}

/** A response whose body was read. */
export interface TestResponse {
  readonly status: number
  /** Lower-case names; several values are joined, `set-cookie` stays a list. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The body as JSON; undefined when it is empty or not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test knows the shape that it expects
  readonly body: any
}

/** Options of a request besides method and path. */
export interface TestRequest {
  readonly headers?: Readonly<Record<string, string>>
  /** Query parameters in addition to those of the path; a list repeats its name. */
  readonly query?: Readonly<Record<string, string | string[]>>
  /** Strings and bytes are sent unchanged, `FormData` and `URLSearchParams` as forms, other values as JSON. */
  readonly body?: unknown
}

/** Options of a request for server-sent events. */
export interface TestEventsRequest extends Pick<TestRequest, 'headers' | 'query'> {
  /** The id of the last event that the client has received. */
  readonly lastEventId?: string
}

/** Sends HTTP requests to an application in the same process and stores its cookies like a browser. */
export interface TestClient {
  request(method: string, path: string, request?: TestRequest): Promise<TestResponse>
  /** `path` may contain a query: `get('/notes?limit=5')`. */
  get(path: string, request?: TestRequest): Promise<TestResponse>
  head(path: string, request?: TestRequest): Promise<TestResponse>
  delete(path: string, request?: TestRequest): Promise<TestResponse>
  options(path: string, request?: TestRequest): Promise<TestResponse>
  post(path: string, body?: unknown, request?: TestRequest): Promise<TestResponse>
  put(path: string, body?: unknown, request?: TestRequest): Promise<TestResponse>
  patch(path: string, body?: unknown, request?: TestRequest): Promise<TestResponse>
  /**
   * Opens a stream of server-sent events. `Data` is the type of their JSON.
   * @throws Error for another response, which is its `cause`.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test knows the data that it expects
  sse<Data = any>(path: string, request?: TestEventsRequest): Promise<TestEvents<Data>>
  /** A client that sends this bearer token and shares these cookies. */
  withToken(token: string): TestClient
  /** Returns the value of a cookie, or undefined. */
  cookie(name: string): string | undefined
  setCookie(cookie: string): void
}

/** Options of a test client. */
export interface TestClientOptions {
  /** Base URL of the requests; its scheme decides about `Secure` cookies. */
  readonly origin?: string
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Makes a client with an empty cookie jar; the application boots with the first request.
 * @throws StartupError `MORTAR_PEER_MISSING` if a package of the test client is missing.
 */
export function createClient(app: Injectable, options: TestClientOptions = {}): TestClient {
  checkPeers([need])
  const { CookieJar } = loadPeer<typeof ToughCookie>('tough-cookie', need)
  return clientOf(app, new CookieJar(), { origin: 'http://localhost', headers: {}, ...options })
}

function clientOf(
  app: Injectable,
  jar: ToughCookie.CookieJar,
  options: Required<TestClientOptions>,
): TestClient {
  const { origin } = options
  const send = sender(app, jar, options)

  async function request(method: string, path: string, parts: TestRequest = {}): Promise<TestResponse> {
    return responseOf(await send(method, path, parts))
  }

  const without = (method: string) => (path: string, more?: TestRequest) => request(method, path, more)
  const withBody =
    (method: string) =>
    (path: string, body?: unknown, more: TestRequest = {}) =>
      request(method, path, { ...more, body })

  return {
    request,
    get: without('GET'),
    head: without('HEAD'),
    delete: without('DELETE'),
    options: without('OPTIONS'),
    post: withBody('POST'),
    put: withBody('PUT'),
    patch: withBody('PATCH'),
    sse: (path, parts) => openEvents(send, path, parts),
    withToken: (token) =>
      clientOf(app, jar, { origin, headers: { ...options.headers, authorization: `Bearer ${token}` } }),
    cookie: (name) =>
      jar.getCookiesSync(origin, { allPaths: true }).find((cookie) => cookie.key === name)?.value,
    setCookie: (cookie) => void jar.setCookieSync(cookie, origin),
  }
}

/** Sends a request with the headers of a client, and stores the cookies of the response. */
type Send = (
  method: string,
  path: string,
  request: TestRequest,
  more?: Pick<InjectRequest, 'payloadAsStream' | 'signal'>,
) => Promise<InjectResponse>

function sender(
  app: Injectable,
  jar: ToughCookie.CookieJar,
  { origin, headers: own }: Required<TestClientOptions>,
): Send {
  return async (method, path, { headers = {}, query, body }, more = {}) => {
    const url = new URL(origin + (path.startsWith('/') ? path : `/${path}`))
    const cookie = jar.getCookieStringSync(url.href)
    const { payload, type } = await encoded(body)
    const response = await app.inject({
      method,
      url: url.href,
      ...(query === undefined ? {} : { query }),
      headers: {
        host: url.host,
        ...(cookie ? { cookie } : {}),
        ...own,
        ...(type === undefined ? {} : { 'content-type': type }),
        ...headers,
      },
      ...(payload === undefined ? {} : { payload }),
      ...more,
    })
    for (const line of [response.headers['set-cookie'] ?? []].flat())
      jar.setCookieSync(line, url.href, { ignoreError: true })
    return response
  }
}

async function openEvents<Data>(
  send: Send,
  path: string,
  { headers, lastEventId, ...parts }: TestEventsRequest = {},
): Promise<TestEvents<Data>> {
  const leaving = new AbortController()
  const last = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  const request = { ...parts, headers: { accept: 'text/event-stream', ...last, ...headers } }
  const response = await send('GET', path, request, { payloadAsStream: true, signal: leaving.signal })
  const { statusCode, headers: received } = response
  if (statusCode === 200 && String(received['content-type']).startsWith('text/event-stream'))
    return readEvents(response.stream(), leaving)
  const payload = await text(response.stream())
  throw new Error(`GET ${path} responded with ${statusCode}, not with server-sent events: ${payload}`, {
    cause: responseOf({ statusCode, headers: received, payload }),
  })
}

/** Returns the bytes and the media type of a request body. */
interface Encoded {
  readonly payload?: string | Buffer
  readonly type?: string
}

async function encoded(body: unknown): Promise<Encoded> {
  if (body === undefined) return {}
  if (typeof body === 'string') return { payload: body, type: 'text/plain; charset=utf-8' }
  if (body instanceof Uint8Array) return { payload: Buffer.from(body) }
  if (!(body instanceof FormData || body instanceof URLSearchParams))
    return { payload: JSON.stringify(body), type: 'application/json' }
  const form = new Response(body)
  return { payload: Buffer.from(await form.arrayBuffer()), type: form.headers.get('content-type')! }
}

function responseOf({
  statusCode,
  headers,
  payload,
}: Pick<InjectResponse, 'statusCode' | 'headers' | 'payload'>): TestResponse {
  return {
    status: statusCode,
    headers: headers as TestResponse['headers'],
    text: payload,
    body: parsedJson(payload),
  }
}
