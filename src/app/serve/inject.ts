import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { InjectOptions } from 'light-my-request'
import { markAsSent } from '../../compat/node.ts'
import { importPeer } from '../../peers/load-peer.ts'
import type { PeerNeed } from '../../peers/peers.ts'

/** A request without a socket. The framework defines the type itself, because light-my-request may not be installed. */
export interface InjectRequest {
  /** In upper or lower case; `GET` by default. */
  readonly method?: string
  /** A path with its query, or an absolute URL. */
  readonly url?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string | string[] | number | undefined>>
  /** Added to the query of the URL; a list repeats its name. */
  readonly query?: string | Readonly<Record<string, string | string[]>>
  /** Strings, bytes and streams are sent unchanged, other values as JSON. */
  readonly payload?: unknown
  /** The same as `payload`. */
  readonly body?: unknown
  readonly cookies?: Readonly<Record<string, string>>
  /** The `Host` header, unless `headers` contains one. */
  readonly authority?: string
  /** The address of the client; `127.0.0.1` by default. */
  readonly remoteAddress?: string
  readonly signal?: AbortSignal
  /** Simulated errors of the transport. */
  readonly simulate?: {
    readonly end?: boolean
    readonly split?: boolean
    readonly error?: boolean
    readonly close?: boolean
  }
  /** True to resolve when the headers arrive; `stream()` of the response returns the body. */
  readonly payloadAsStream?: boolean
}

/** The response to an `InjectRequest`, with its body read. */
export interface InjectResponse {
  readonly statusCode: number
  readonly statusMessage: string
  readonly headers: OutgoingHttpHeaders
  readonly trailers: Readonly<Record<string, string>>
  readonly payload: string
  readonly body: string
  readonly rawPayload: Buffer
  readonly cookies: readonly {
    readonly name: string
    readonly value: string
    readonly [key: string]: unknown
  }[]
  readonly raw: { readonly req: IncomingMessage; readonly res: ServerResponse }
  // oxlint-disable-next-line typescript/no-explicit-any -- a test checks the parsed value with assertions
  json<T = any>(): T
  stream(): Readable
}

const need: PeerNeed = {
  of: 'app.inject()',
  peers: { from: import.meta.url, packages: ['light-my-request'], development: true },
}

/** Kept for later requests: with a loader such as tsx each `import()` costs a millisecond, also of a loaded module. */
let loaded: Awaited<ReturnType<typeof load>> | undefined

const load = () => importPeer(() => import('light-my-request'), need)

/** Sends a request through a listener. @throws StartupError `MORTAR_PEER_MISSING` without light-my-request. */
export async function inject(
  listener: RequestListener,
  request: InjectRequest | string,
): Promise<InjectResponse> {
  loaded ??= await load()
  // light-my-request declares its fields as writable and each method separately.
  return loaded.inject(
    (req, res) => {
      res.once('finish', () => markAsSent(res))
      listener(req, res)
    },
    request as string | InjectOptions,
  )
}
