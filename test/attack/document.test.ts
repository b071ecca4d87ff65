import { expect } from 'chai'
import { createApp, createRouter, NotFound } from 'mortar'
import { array, boolean, number, object, string } from 'yup'
import { z } from 'zod'
import { bearer, tokens } from '../support/tokens-brick.ts'

interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly enum?: readonly unknown[]
  readonly minLength?: number
  readonly minimum?: number
  readonly format?: string
}
interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: JsonSchema
}
interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: Readonly<Record<string, { schema?: JsonSchema }>>
  }
  readonly responses: Readonly<Record<string, { readonly content?: object }>>
  readonly security?: readonly object[]
  readonly 'x-policies'?: readonly string[]
}
interface Call {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly payload?: string
}

const note = object({ id: number().required(), text: string().required() })

const routes = () =>
  createRouter()
    .get(
      '/notes',
      { query: object({ page: number().min(1), done: boolean() }), response: { 200: array(note) } },
      () => [],
    )
    .post(
      '/notes',
      {
        body: object({ text: string().min(2).required(), tags: array(string().required()) }),
        response: { 201: note },
      },
      (ctx) => {
        ctx.status = 201
        return { id: 1, text: ctx.body.text }
      },
    )
    .get(
      '/notes/:id',
      {
        params: object({ id: number().integer().required() }),
        response: { 200: note, 404: object({ detail: string() }) },
      },
      (ctx) => {
        if (ctx.params.id !== 1) throw new NotFound()
        return { id: 1, text: 'one' }
      },
    )
    .delete(
      '/notes/:id',
      { auth: 'owner', params: object({ id: number().required() }), response: { 204: object() } },
      () => undefined,
    )
    .put(
      '/notes/:id',
      {
        auth: true,
        params: object({ id: number().required() }),
        headers: object({ 'x-version': number().required() }),
        body: note,
        response: { 200: note },
      },
      (ctx) => ctx.body,
    )
    .patch(
      '/zod/:id',
      {
        params: z.object({ id: z.string() }),
        body: z.object({ on: z.boolean(), kind: z.enum(['a', 'b']) }),
        response: { 200: z.object({ on: z.boolean() }) },
      },
      (ctx) => ctx.body,
    )
    .get('/me', { auth: true, response: { 200: object({ id: string().required() }) } }, (ctx) => ({
      id: ctx.user.id,
    }))

const app = createApp({ logger: false })
  .use(tokens({ owner: (user) => user.id === 'owner' }))
  .use(routes())

describe('The OpenAPI document', () => {
  after(() => app.close())

  it('declares each status and media type that requests made from it cause', async () => {
    const { paths } = (await app.inject('/openapi.json')).json<{
      paths: Record<string, Record<string, Operation>>
    }>()
    let operations = 0
    for (const [path, item] of Object.entries(paths))
      for (const [method, operation] of Object.entries(item)) {
        operations += 1
        const answers = await answersOf(`${method} ${path}`, operation, callsOf(method, path, operation))
        expect(answers, `${method} ${path}`).to.deep.equal(Object.keys(operation.responses).toSorted())
      }
    expect(operations).to.equal(7)
  })
})

/** The statuses that the calls bring about, each of which is declared with the media type that came. */
async function answersOf(name: string, { responses }: Operation, calls: readonly Call[]): Promise<string[]> {
  const seen = new Set<string>()
  for (const call of calls) {
    const { statusCode, headers, body } = await app.inject(call)
    const declared = responses[statusCode]
    expect(declared, `${name} answered ${statusCode}: ${body}`).not.to.equal(undefined)
    const [type = ''] = String(headers['content-type'] ?? '').split(';', 1)
    if (type !== '') expect(declared!.content, `${name} ${statusCode}`).to.have.property(type)
    seen.add(String(statusCode))
  }
  return [...seen].toSorted()
}

/** A valid call, and one for each failure that the operation declares. */
function callsOf(method: string, path: string, operation: Operation): Call[] {
  const valid = callOf(method, path, operation)
  const { headers } = valid
  const calls: Call[] = [valid]
  if (operation.responses[404]) calls.push({ ...valid, url: valid.url.replace('/1', '/2') })
  if (operation.security) calls.push({ ...valid, headers: { ...headers, authorization: 'Bearer bad' } })
  if (operation['x-policies']) calls.push({ ...valid, headers: { ...headers, ...bearer('stranger') } })
  if (operation.requestBody)
    calls.push(
      { ...valid, payload: '{' },
      { ...valid, payload: '[]' },
      { ...valid, headers: { ...headers, 'content-type': 'application/x-unknown' } },
      { ...valid, payload: JSON.stringify('x'.repeat(2 ** 20)) },
    )
  for (const parameter of operation.parameters ?? [])
    if (isTyped(parameter)) calls.push(callOf(method, path, operation, parameter.name))
  return calls
}

function callOf(method: string, path: string, operation: Operation, wrong = ''): Call {
  const headers: Record<string, string> = operation.security ? { ...bearer('owner') } : {}
  const query = new URLSearchParams()
  let url = path
  for (const { name, in: place, schema } of operation.parameters ?? []) {
    const text = name === wrong ? 'wrong' : String(exampleOf(schema))
    if (place === 'path') url = url.replace(`{${name}}`, encodeURIComponent(text))
    else if (place === 'query') query.set(name, text)
    else headers[name] = text
  }
  const { type, payload } = bodyOf(operation)
  if (type) headers['content-type'] = type
  return {
    method: method.toUpperCase(),
    url: query.size > 0 ? `${url}?${query.toString()}` : url,
    headers,
    ...(payload === undefined ? {} : { payload }),
  }
}

function bodyOf({ requestBody }: Operation): { type?: string; payload?: string } {
  const [first] = Object.entries(requestBody?.content ?? {})
  if (!first) return {}
  const [type, { schema = {} }] = first
  return { type, payload: JSON.stringify(exampleOf(schema)) }
}

function isTyped({ schema }: Parameter): boolean {
  return ['number', 'integer', 'boolean'].includes(typeOf(schema))
}

function exampleOf(schema: JsonSchema): unknown {
  if (schema.enum) return schema.enum[0]
  const type = typeOf(schema)
  if (type === 'object')
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, exampleOf(inner)]),
    )
  if (type === 'array') return [exampleOf(schema.items ?? {})]
  if (type === 'boolean') return true
  if (type === 'number' || type === 'integer') return schema.minimum ?? 1
  return 'x'.repeat(Math.max(1, schema.minLength ?? 1))
}

function typeOf({ type }: JsonSchema): string {
  return (Array.isArray(type) ? type.find((one) => one !== 'null') : type) as string
}
