import { expect } from 'chai'
import { createApp, createRouter, type App } from 'mortar'
import { LIBRARIES } from './support/libraries.ts'

interface Issue {
  readonly location: string
  readonly path: string
  readonly rule: string
  readonly params?: object
}

const ID = '0b3c2f5e-7a1d-4f6b-9c8e-2d4a6b8c0e1f'
const ORDER = { email: 'ada@example.com', name: 'Ada', items: [{ quantity: 2 }] }

/** Rules that a library names by its pattern, in place of its word. */
const BY_PATTERN = new Set(['arktype email', 'arktype uuid'])

for (const [library, schemas] of Object.entries(LIBRARIES))
  describe(`A route with schemas of ${library}`, () => {
    let app: App
    let seen: { params: unknown; query: unknown; body: unknown }[]
    let response: unknown

    before(() => {
      const router = createRouter().post('/orders/:id', schemas, (ctx) => {
        seen.push({ params: ctx.params, query: ctx.query, body: ctx.body })
        return response
      })
      app = createApp({ environment: 'test', logger: false }).use(router)
    })
    beforeEach(() => {
      seen = []
      response = { total: 2 }
    })
    after(() => app.close())

    const send = (body: unknown, path = `/orders/${ID}`) =>
      app.inject({ method: 'POST', url: path, payload: body as object })
    const issuesOf = async (body: unknown, path?: string): Promise<string[]> => {
      const reply = await send(body, path)
      expect(reply.statusCode, reply.body).to.equal(422)
      expect(seen).to.deep.equal([])
      return (reply.json() as { errors: Issue[] }).errors.map(
        ({ location, path: at, rule, params }) =>
          `${location} ${at} ${rule}${params ? ` ${JSON.stringify(params)}` : ''}`,
      )
    }
    const named = (rule: string) => (BY_PATTERN.has(`${library} ${rule}`) ? /matches/ : new RegExp(rule))

    it('passes typed values to the handler, without keys that are not declared', async () => {
      const body = { ...ORDER, colour: 'red', role: 'admin', items: [{ quantity: 2, price: 0 }] }
      const reply = await send(body, `/orders/${ID}?page=3&tag=a`)
      expect(reply.statusCode, reply.body).to.equal(200)
      expect(seen).to.deep.equal([
        { params: { id: ID }, query: { page: 3, tag: ['a'] }, body: { ...ORDER, colour: 'red' } },
      ])
    })

    it('leaves optional keys absent', async () => {
      expect((await send(ORDER)).statusCode).to.equal(200)
      expect(seen[0]).to.deep.equal({ params: { id: ID }, query: {}, body: ORDER })
    })

    it('names the rule of each location in the same words', async () => {
      const [id, ...others] = await issuesOf(ORDER, '/orders/7?page=0')
      expect(id)
        .to.match(/^params id /)
        .and.match(named('uuid'))
      expect(others).to.deep.equal(['query page min {"min":1}'])
    })

    it('reports every issue of a body with its path', async () => {
      const issues = await issuesOf({
        email: 'ada',
        name: 'A',
        items: [{ quantity: 1 }, { quantity: 0 }, {}],
      })
      const [email] = issues.splice(
        issues.findIndex((issue) => issue.startsWith('body email ')),
        1,
      )
      expect(email).to.match(named('email'))
      // arktype visits the keys in another order.
      expect(issues).to.have.members([
        'body name min {"min":2}',
        'body items[1].quantity min {"min":1}',
        'body items[2].quantity required',
      ])
    })

    it('reports missing keys, other types and other values', async () => {
      const issues = await issuesOf({ email: null, name: 'Ada', colour: 'blue', items: 'x' })
      expect(issues.map((issue) => issue.replace(/ \{"values".*/, ''))).to.have.members([
        'body email required',
        'body colour oneOf',
        'body items type {"type":"array"}',
      ])
    })

    it('refuses text that is not a number in a query, and more items than allowed', async () => {
      expect(await issuesOf(ORDER, `/orders/${ID}?page=0x10`)).to.deep.equal([
        'query page type {"type":"number"}',
      ])
      const items = Array.from({ length: 4 }, () => ({ quantity: 1 }))
      expect(await issuesOf({ ...ORDER, items })).to.deep.equal(['body items max {"max":3}'])
    })

    it('refuses characters that databases refuse, and ignores keys of the prototype', async () => {
      expect(await issuesOf({ ...ORDER, name: 'A\0' })).to.deep.equal(['body name characters'])
      const hostile = `{"__proto__":{"role":"admin"},"constructor":1,${JSON.stringify(ORDER).slice(1)}`
      const reply = await app.inject({
        method: 'POST',
        url: `/orders/${ID}`,
        payload: hostile,
        headers: { 'content-type': 'application/json' },
      })
      expect(reply.statusCode, reply.body).to.equal(200)
      expect((seen[0]!.body as { role?: unknown }).role).to.equal(undefined)
    })

    it('lists at most twenty issues', async () => {
      const items = Array.from({ length: 100 }, () => ({}))
      const reply = await send({ ...ORDER, items })
      const problem = reply.json() as { errors: Issue[]; truncated?: boolean }
      expect(reply.statusCode).to.equal(422)
      expect(problem.errors.length).to.be.at.most(20)
    })

    it('filters a response, and refuses one that does not match', async () => {
      response = { total: 3, secret: 'x' }
      expect((await send(ORDER)).json()).to.deep.equal({ total: 3 })
      response = { total: 'three' }
      const reply = await send(ORDER)
      expect([reply.statusCode, reply.json().code]).to.deep.equal([500, 'response_mismatch'])
    })

    it('is in the OpenAPI document', async () => {
      const document = (await app.inject('/openapi.json')).json() as Document
      const operation = document.paths['/orders/{id}']!.post
      const { properties, required } = operation.requestBody.content['application/json'].schema
      expect(required).to.have.members(['email', 'name', 'items'])
      expect(properties['name']).to.deep.include({ type: 'string', minLength: 2, maxLength: 5 })
      expect(properties['items']).to.deep.include({ type: 'array', maxItems: 3 })
      expect(properties['items']!.items.properties.quantity).to.deep.include({ minimum: 1 })
      expect(operation.parameters.map(({ name }) => name)).to.have.members(['id', 'page', 'tag'])
      expect(operation.responses['200'].content['application/json'].schema.properties).to.have.keys([
        'total',
        'note',
      ])
    })
  })

interface JsonSchema {
  readonly properties: Readonly<Record<string, JsonSchema & { items: { properties: { quantity: object } } }>>
  readonly required: readonly string[]
}

interface Content {
  readonly content: { readonly 'application/json': { readonly schema: JsonSchema } }
}

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly post: {
          readonly requestBody: Content
          readonly parameters: readonly { readonly name: string }[]
          readonly responses: { readonly '200': Content }
        }
      }
    >
  >
}
