import type { SecurityScheme } from '../contracts/authenticator.ts'
import type { BrickEntry } from '../routing/brick-entry.ts'
import { openApiPath } from '../routing/path-pattern.ts'
import type { MessageSchemas, Route } from '../routing/route.ts'
import type { Schema } from '../schema/schema.ts'
import { ignore } from '../support/ignore.ts'
import type { DocumentInput } from './document.ts'
import { withoutEmpty, type JsonObject } from './json.ts'
import { parametersOf } from './parameters.ts'
import { createSchemaReader, type SchemaReader } from './schema-reader.ts'
import { BEARER, isGuarded, policiesOf, policySentence } from './security.ts'

/** Input of the AsyncAPI document. */
export interface AsyncDocumentInput extends Omit<DocumentInput, 'servers' | 'problems' | 'warn'> {
  /** Entry points of bricks; those with `messages` are channels too. */
  readonly entries: readonly BrickEntry[]
  readonly warn: (message: string, route: Route) => void
}

/** A route with messages, and its id in the document. */
interface AsyncRoute {
  readonly id: string
  readonly route: Route
  readonly messages: MessageSchemas
}

/**
 * The AsyncAPI 3.0 document of the routes that change their protocol and of the channels of bricks, as plain JSON: what
 * the application receives from a client, and what it sends. Undefined if there is neither.
 */
export function buildAsyncDocument(input: AsyncDocumentInput): object | undefined {
  const found = asyncRoutes(input)
  if (found.length === 0) return undefined
  const reader = createSchemaReader(input.warn)
  const security = input.security ?? BEARER
  const channels = Object.fromEntries(found.map((each) => [each.id, channelOf(each, reader)]))
  const operations = Object.fromEntries(found.flatMap((each) => operationsOf(each, security)))
  const { parts, schemas } = reader.finish({ channels, operations })
  const hasGuard = found.some(({ route }) => isGuarded(route))
  return {
    asyncapi: '3.0.0',
    info: withoutEmpty({ title: input.title, version: input.version, description: input.description }),
    defaultContentType: 'application/json',
    ...parts,
    components: withoutEmpty({
      schemas,
      securitySchemes: hasGuard ? { [security.name]: schemeOf(security) } : undefined,
    }),
  }
}

/** Returns the routes in the order of their paths. An id is unique and has no character that a reference must escape. */
function asyncRoutes({ routes, entries }: AsyncDocumentInput): AsyncRoute[] {
  const all = [...routes, ...entries.flatMap(routeOfEntry)].flatMap((route) =>
    route.upgrade?.messages === undefined ? [] : [{ route, messages: route.upgrade.messages }],
  )
  const used = new Map<string, number>()
  return all
    .toSorted((a, b) => (a.route.path < b.route.path ? -1 : 1))
    .map(({ route, messages }) => {
      const name =
        openApiPath(route.path)
          .replaceAll(/[^\w.-]+/g, '_')
          .replaceAll(/^_|_$/g, '') || 'root'
      const count = (used.get(name) ?? 0) + 1
      used.set(name, count)
      return { id: count === 1 ? name : `${name}.${count}`, route, messages }
    })
}

/** The channel of a brick as a route, which clients reach over another one. */
function routeOfEntry({ kind, name, file, messages }: BrickEntry): Route[] {
  if (messages === undefined) return []
  const { path, auth, over, ...schemas } = messages
  return [
    {
      method: 'GET',
      path,
      definition: { auth },
      handler: ignore,
      middleware: [],
      origin: file ?? `${kind} ${name}`,
      upgrade: { protocol: kind, messages: schemas, over },
    },
  ]
}

function channelOf({ route, messages }: AsyncRoute, reader: SchemaReader): JsonObject {
  const { query, headers, summary, description } = route.definition
  const parameters = parametersOf(route, reader).filter(({ in: place }) => place === 'path')
  const ofRequest = (part: 'query' | 'headers', schema: Schema | undefined) =>
    schema && reader.readFields(schema, { route, part })
  const isWebSocket = route.upgrade!.protocol === 'websocket'
  return withoutEmpty({
    address: openApiPath(route.path),
    title: summary,
    description: [description, policySentence(policiesOf(route))].filter(Boolean).join('\n\n') || undefined,
    parameters: parameters.length === 0 ? undefined : Object.fromEntries(parameters.map(parameterOf)),
    messages: {
      ...messagesOf('receive', { route, messages, reader }),
      ...messagesOf('send', { route, messages, reader }),
      ...(messages.receive && { problem: { payload: PROBLEM } }),
    },
    bindings: isWebSocket
      ? {
          ws: withoutEmpty({
            method: 'GET',
            query: ofRequest('query', query),
            headers: ofRequest('headers', headers),
          }),
        }
      : undefined,
    'x-protocol': isWebSocket ? undefined : route.upgrade!.protocol,
    'x-over': route.upgrade!.over,
    'x-policies': policiesOf(route),
  })
}

/** The message for an invalid message of a client, with a problem document (RFC 9457). */
const PROBLEM = {
  type: 'object',
  required: ['problem'],
  properties: {
    problem: {
      type: 'object',
      required: ['type', 'title', 'status'],
      properties: { type: { type: 'string' }, title: { type: 'string' }, status: { type: 'integer' } },
    },
  },
}

function parameterOf({ name, description }: JsonObject): [string, JsonObject] {
  return [String(name), withoutEmpty({ description })]
}

interface Described {
  readonly route: Route
  readonly messages: MessageSchemas
  readonly reader: SchemaReader
}

function messagesOf(way: 'receive' | 'send', { route, messages, reader }: Described): JsonObject {
  const direction = way === 'receive' ? 'input' : 'output'
  const named = Object.entries(messages[way] ?? {}).map(([name, schema]) => {
    const { schema: payload } = reader.read(schema, direction, { route, part: `${way} '${name}'` })
    return [idOf(way, name), { name, payload }] as const
  })
  return Object.fromEntries(named)
}

function idOf(way: string, name: string): string {
  return `${way}.${name.replaceAll(/[^\w.-]/g, '_')}`
}

function operationsOf({ id, route, messages }: AsyncRoute, security: SecurityScheme): [string, JsonObject][] {
  return (['receive', 'send'] as const).flatMap((way): [string, JsonObject][] => {
    const ids = Object.keys(messages[way] ?? {}).map((name) => idOf(way, name))
    if (way === 'send' && messages.receive !== undefined) ids.push('problem')
    if (ids.length === 0) return []
    const channel = `#/channels/${id}`
    const operation = withoutEmpty({
      action: way,
      channel: { $ref: channel },
      security: isGuarded(route) ? [{ $ref: `#/components/securitySchemes/${security.name}` }] : undefined,
      tags: (route.definition.tags ?? []).map((name) => ({ name })),
      messages: ids.map((each) => ({ $ref: `${channel}/messages/${each}` })),
    })
    return [[`${id}.${way}`, operation]]
  })
}

/** AsyncAPI calls a key in a header, cookie or query `httpApiKey`. Other schemes have the same form, or become bearer. */
function schemeOf({ scheme }: SecurityScheme): JsonObject {
  if (scheme['type'] === 'apiKey') return { ...scheme, type: 'httpApiKey' }
  return scheme['type'] === 'http' ? { ...scheme } : { ...BEARER.scheme }
}
