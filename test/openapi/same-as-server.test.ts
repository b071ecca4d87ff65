import { createRequire } from 'node:module'
import { expect } from 'chai'
import { createApp, createRouter, type App, type RouteDefinition } from 'mortar'
import { Random } from '../schema/support/random.ts'
import { randomSameSchema, type SameSchema } from '../schema/support/same-schema.ts'
import { casesOf, seedFor } from '../support/seed.ts'
import type { Document, Operation } from './read-document.ts'

interface Compile {
  compile(schema: object): (value: unknown) => boolean
}
const { default: Ajv } = createRequire(import.meta.url)('ajv/dist/2020.js') as {
  readonly default: new (options: object) => Compile
}

const VALUES = [0, 1, 2, 2.5, -1, 'x', '1', true, false, [0], [1, 2], ['x'], [1, 'x'], [true]] as const

type Values = Readonly<Record<string, (typeof VALUES)[number]>>

function randomValues(random: Random): Values {
  const names = ['a', 'b'].filter(() => random.chance(0.85))
  return Object.fromEntries(names.map((name) => [name, random.pick(VALUES)]))
}

function queryOf(values: Values): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    for (const one of [value].flat()) query.append(name, String(one))
  return query.toString()
}

function appOf({ schemas }: SameSchema): App {
  const app: App = createApp({ environment: 'test', logger: false })
  for (const [library, schema] of Object.entries(schemas)) {
    const definition: RouteDefinition = { body: schema, response: { 200: schema } }
    const router = createRouter({ prefix: `/${library}` }).post('/', definition, ({ body }) => body as never)
    app.use(router.get('/', { query: schema }, () => 'ok'))
  }
  return app
}

/** Returns the test of the values that the parameters of an operation allow. */
function parametersOf({ parameters = [] }: Operation, ajv: Compile): (values: Values) => boolean {
  const checks = parameters.map(({ name, required = false, schema }) => ({
    name,
    required,
    allows: ajv.compile(schema),
  }))
  return (values) =>
    checks.every(({ name, required, allows }) => (name in values ? allows(values[name]) : !required))
}

/** Returns the tests of a request body and of its response. */
function bodiesOf({ requestBody, responses }: Operation, ajv: Compile) {
  const [request, response] = [requestBody, responses['200']].map((one) =>
    ajv.compile(one!.content!['application/json']!.schema!),
  )
  return { request: request!, response: response! }
}

describe('The OpenAPI document and the server', () => {
  const random = new Random(seedFor('the document and the server'))
  const ajv = new Ajv({ strict: false })
  const cases = Array.from({ length: casesOf(120) }, () => randomSameSchema(random))

  async function eachRoute(
    compare: (app: App, path: string, item: Document['paths'][string]) => Promise<void>,
  ): Promise<void> {
    for (const same of cases.filter(({ isDescribed }) => isDescribed)) {
      const app = appOf(same)
      const { paths } = (await app.inject('/openapi.json')).json<Document>()
      for (const [path, item] of Object.entries(paths)) await compare(app, path, item)
      await app.close()
    }
  }

  it('agree on the queries that are valid, with schemas of each library', async () => {
    let sent = 0
    await eachRoute(async (app, path, { get }) => {
      // An intersection of valibot is not an object schema, so its parameters are not known.
      if (path === '/valibot') return
      const values = Array.from({ length: 60 }, () => randomValues(random))
      for (const given of values.filter(parametersOf(get!, ajv))) {
        sent += 1
        const { statusCode, body } = await app.inject(`${path}?${queryOf(given)}`)
        expect(statusCode, `${path} ${JSON.stringify(given)} ${JSON.stringify(get)} ${body}`).to.equal(200)
      }
    })
    expect(sent).to.be.above(cases.length)
  })

  it('agree on the bodies that are valid, with schemas of each library', async () => {
    await eachRoute(async (app, path, { post }) => {
      const { request, response } = bodiesOf(post!, ajv)
      for (const given of Array.from({ length: 8 }, () => randomValues(random))) {
        const sent = await app.inject({ method: 'POST', url: path, payload: given })
        const about = `${path} ${JSON.stringify(given)} ${JSON.stringify(post)} ${sent.body}`
        // yup also accepts text that it can cast.
        if (request(given) || path !== '/yup')
          expect(sent.statusCode, about).to.equal(request(given) ? 200 : 422)
        if (sent.statusCode === 200) expect(response(sent.json()), about).to.equal(true)
      }
    })
  })
})
