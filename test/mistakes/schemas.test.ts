import { expect } from 'chai'
import { createApp, createRouter, type RouteDefinition, type Schema, type StartupErrors } from 'mortar'
import { array, boolean, date, lazy, number, object, ref, string, tuple } from 'yup'
import { z } from 'zod'
import { startupErrorOf } from '../support/startup-error-of.ts'
import { withRoutes } from './folder-of-routes.ts'

/** A value that TypeScript would not accept as a schema. */
const untyped = (value: unknown) => value as never

const startWith = (definition: RouteDefinition) =>
  createApp({ logger: false, signals: false })
    .use(createRouter().post('/:id', definition, () => 1))
    .ready()

describe('A function in place of a schema', () => {
  it('is named with the file of the route, the key and the call', () =>
    startupErrorOf(() =>
      withRoutes(
        {
          'routes/a.post.js': `import { object, string } from '${import.meta.resolve('yup')}'
export const body = object({ name: string })\nexport default () => 1\n`,
        },
        async () => undefined,
      ),
    ).then(({ found, remedy, code }) => {
      expect(found).to.match(/routes\/a\.post\.js has a function as `body\.name`, which is not a schema\.$/)
      expect(remedy).to.equal('Call it: string().')
      expect(code).to.equal('MORTAR_ROUTE_SCHEMA')
    }))

  for (const [name, definition, place, remedy] of [
    ['the body itself', { body: untyped(string) }, 'body', 'Call it: string().'],
    ['a parameter', { params: object({ id: untyped(number) }) }, 'params.id', 'Call it: number().'],
    ['a query parameter', { query: object({ all: untyped(boolean) }) }, 'query.all', 'Call it: boolean().'],
    ['a header', { headers: object({ 'x-at': untyped(date) }) }, 'headers.x-at', 'Call it: date().'],
    [
      'a response',
      { response: { 200: object({ at: untyped(date) }) } },
      'response[200].at',
      'Call it: date().',
    ],
    [
      'the schema of a media type',
      { response: { 200: { type: 'application/json', schema: object({ a: untyped(string) }) } } },
      'response[200].schema.a',
      'Call it: string().',
    ],
    [
      'a nested object',
      { body: object({ owner: object({ name: untyped(string) }) }) },
      'body.owner.name',
      'Call it: string().',
    ],
    ['items', { body: object({ tags: array(untyped(string)) }) }, 'body.tags[]', 'Call it: string().'],
    ['items of objects', { body: array(object({ n: untyped(number) })) }, 'body[].n', 'Call it: number().'],
    ['an item of a tuple', { body: tuple([untyped(string)]) }, 'body[0]', 'Call it: string().'],
    ['a constructor', { body: object({ name: untyped(String) }) }, 'body.name', 'Call it: string().'],
    ['a member of zod', { body: z.object({ name: untyped(z.string) }) }, 'body.name', 'Call it: string().'],
    ['items of zod', { body: z.object({ a: z.array(untyped(z.string)) }) }, 'body.a[]', 'Call it: string().'],
  ] as const)
    it(`stops the start: ${name}`, async () => {
      const error = await startupErrorOf(() => startWith(definition))
      expect(error.found).to.equal(
        `POST /:id of router / has a function as \`${place}\`, which is not a schema.`,
      )
      expect(error.remedy).to.equal(remedy)
    })

  for (const [key, schema, type] of [
    ['params', string(), 'string'],
    ['query', z.array(z.string()), 'array'],
    ['headers', array(), 'array'],
  ] as const)
    it(`is not the only mistake: ${key} of one value would refuse every request`, async () => {
      const error = await startupErrorOf(() => startWith({ [key]: schema }))
      expect(error.found).to.equal(
        `POST /:id of router / has a schema of the type ${type} as \`${key}\`, which no request matches.`,
      )
      expect(error.remedy).to.equal(`Give each value a name: \`${key}: object({ name: … })\`.`)
    })

  it('is one of several faults', async () => {
    const body = object({ a: untyped(string), b: untyped({ c: string() }), d: untyped(undefined) })
    const error = await startupErrorOf(() => startWith({ body }))
    expect((error as StartupErrors).errors.map(({ found, remedy }) => `${found} ${remedy}`)).to.deep.equal([
      'POST /:id of router / has a function as `body.a`, which is not a schema. Call it: string().',
      "POST /:id of router / has an object as `body.b`, which is not a schema. Wrap it in yup's object({ … }).",
      'POST /:id of router / has undefined as `body.d`, which is not a schema. Use a yup schema or another Standard ' +
        'Schema validator for `body.d`, or remove it.',
    ])
  })

  it('is not suspected in a schema that is right', async () => {
    const tree: Schema = object({ children: array(lazy(() => tree as ReturnType<typeof object>)) })
    const Category = z.object({
      name: z.string(),
      get children() {
        return z.array(Category)
      },
    })
    const same = object({ a: string() })
    for (const body of [
      tree,
      object({ first: number(), last: number().min(ref('first')), same: ref('first'), list: array() }),
      object({
        tree: lazy(() => object({ a: string() })),
        one: same,
        two: same,
        pair: tuple([string(), same]),
      }),
      z.object({ a: z.array(Category).optional(), b: z.lazy(() => Category), c: z.tuple([z.string()]) }),
    ])
      await startWith({ body })
  })

  it('is found beside members that a function makes without end', async () => {
    const makePair = (): Schema =>
      z.object({
        get left() {
          return z.array(makePair() as z.ZodType)
        },
        get right() {
          return makePair() as z.ZodType
        },
      })
    await startWith({ body: makePair() })
    const error = await startupErrorOf(() =>
      startWith({ body: object({ pair: makePair() as never, name: untyped(string) }) }),
    )
    expect(error.found).to.include('has a function as `body.name`')
  })
})
