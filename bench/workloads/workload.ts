/** A request as it is sent. */
export interface WireRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** The end of the body, when many requests share it; kept once, however many bodies end with it. */
  readonly tail?: string
}

/** A request with the response that every server must give. */
export interface Check {
  readonly request: WireRequest
  readonly status: number
  /** The response's JSON, compared byte for byte with `JSON.stringify` of this value. */
  readonly json?: unknown
  /** `location.path` of every issue of a 422. */
  readonly issues?: readonly string[]
  /** Required response headers. */
  readonly headers?: readonly string[]
}

/** One more process of a peer in the same rounds, running another application. */
export interface ExtraServer {
  readonly name: string
  readonly peer: string
  readonly app: string
}

/** Resources that the servers of a workload share while it is measured. */
export interface SetUp {
  /** Variables of the servers' environment. */
  readonly env: Readonly<Record<string, string>>
  tearDown(): Promise<void> | void
}

/** Thrown by `setUp` where a workload cannot be measured, such as without a database server; the report has the reason. */
export class NotMeasured extends Error {}

/** One kind of work that all servers do. */
export interface Workload {
  readonly id: string
  readonly title: string
  /** The application that a server starts, with a setting after a colon, and its number of routes or tokens. */
  readonly app: string
  readonly size: number
  /** Folder of the peers under `bench/peers`, when not that folder itself. */
  readonly folder?: string
  /** The peers that are measured unless `--peers` names others. */
  readonly peers: readonly string[]
  /** Peers that can do this work when `--peers` names them. */
  readonly morePeers?: readonly string[]
  readonly extra?: readonly ExtraServer[]
  /** Status of every response under load; 200 by default. */
  readonly status?: number
  /** The servers log to standard output, one JSON object per line with these fields. */
  /** Makes the shared resources of the servers, such as a database. @throws NotMeasured if that is not possible here. */
  setUp?(): Promise<SetUp>
  readonly logFields?: Readonly<Record<string, 'string' | 'number' | 'boolean'>>
  /** Requests that are all different from each other, sent in turn. */
  requests(tokens: readonly string[]): WireRequest[]
  checks(tokens: readonly string[]): Check[]
}

/** Number of different requests of a workload; a server gets each of them again only after all the others. */
export const VARIETY = 40_000

/** Peers without a database, the lightest first. */
export const SERVERS = [
  'raw',
  'raw-tuned',
  'mortar',
  'fastify',
  'h3',
  'hono',
  'koa',
  'koa-stack',
  'nest',
  'express',
]

/** Peers where each further server would only repeat what the first workloads show. */
export const MAIN_SERVERS = ['raw', 'raw-tuned', 'mortar', 'fastify', 'hono', 'koa', 'koa-stack']
