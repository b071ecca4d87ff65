import { expect } from 'chai'
import {
  createApp,
  createRouter,
  type AppOptions,
  type RouteDefinition,
  type StartupError,
  type ValidationFailed,
} from 'mortar'
import { array, number, object, string, type ValidationError } from 'yup'
import { z } from 'zod'
import { throughBothAdapters, type ServedApp } from '../support/adapters.ts'

interface Problem {
  readonly status: number
  readonly detail: string
  readonly truncated?: boolean
  readonly errors: readonly { readonly location: string; readonly path: string; readonly message: string }[]
}

/** An application with one POST route, and the values that reached its handler. */
function recording(definition: RouteDefinition, options: AppOptions = {}) {
  const seen: { body: unknown; query: unknown; n: unknown }[] = []
  const router = createRouter().post('/', definition, (ctx) => {
    seen.push({ body: ctx.body, query: ctx.query, n: (ctx.headers as Record<string, unknown>)['x-n'] })
    return 'ok'
  })
  return { app: createApp(options).use(router), seen }
}

async function post(served: ServedApp, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await served.fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, problem: (await response.json().catch(() => ({}))) as Problem }
}

/** True after a turn of the event loop, so that nothing is settled too early. */
const later = async (result: boolean): Promise<boolean> => {
  await new Promise<void>((resolve) => {
    setImmediate(resolve)
  })
  return result
}

describe('Validated parameters of a path', () => {
  throughBothAdapters((open) => {
    it('reach the handler with their cast values', async () => {
      const seen: unknown[] = []
      const router = createRouter().get(
        '/:n',
        { params: object({ n: number().required() }) },
        ({ params }) => {
          seen.push(params.n)
          return 'ok'
        },
      )
      await (await open(createApp().use(router))).fetch('/7')
      expect(seen).to.deep.equal([7])
    })
  })
})

describe('Asynchronous validation', () => {
  throughBothAdapters((open) => {
    const body = object({
      name: string()
        .trim()
        .required()
        .test('free', 'is taken', (value) => later(value !== 'taken')),
    })
    const query = object({ page: number() })
    const headers = object({ 'x-n': number().test('own', 'is refused', (value) => later(value !== 7)) })

    it('is done before the handler runs', async () => {
      const { app, seen } = recording({ body, query })
      const { status, problem } = await post(await open(app), '/', { name: 'taken' })
      expect(status).to.equal(422)
      expect(problem.errors).to.deep.equal([
        { location: 'body', path: 'name', rule: 'free', message: 'is taken' },
      ])
      expect(seen).to.deep.equal([])
    })

    it('reports the issues of all locations, synchronous issues included', async () => {
      const { app, seen } = recording({ body, query, headers })
      const { problem } = await post(await open(app), '/?page=x', { name: 'taken' }, { 'X-N': '7' })
      expect(problem.errors.map(({ location, path }) => `${location} ${path}`)).to.have.members(['query page', 'headers x-n', 'body name']) // prettier-ignore
      expect(seen).to.deep.equal([])
    })

    it('passes the cast values to the handler', async () => {
      const { app, seen } = recording({ body, query, headers })
      const { status } = await post(await open(app), '/?page=3', { name: ' ada ' }, { 'X-N': '5' })
      expect(status).to.equal(200)
      expect(seen).to.deep.equal([{ body: { name: 'ada' }, query: { page: 3 }, n: 5 }])
    })
  })
})

describe('A request that is not valid', () => {
  throughBothAdapters((open) => {
    const items = object({ items: array(object({ qty: number().required() })).required() })
    const plain = { body: items, query: object({ page: number() }) }
    const wrong = (count: number) => ({ items: Array.from({ length: count }, () => ({})) })

    it('gets at most twenty issues and a note that there are more', async () => {
      const { app, seen } = recording(plain)
      const served = await open(app)
      const { status, problem } = await post(served, '/?page=x', wrong(100))
      expect(status).to.equal(422)
      expect(problem.errors).to.have.length(20)
      expect(problem.errors[0]).to.include({ location: 'query', path: 'page' })
      expect(problem.truncated).to.equal(true)
      expect(problem.detail).to.equal('More than 20 values are not valid.')
      const exact = await post(served, '/', wrong(20))
      expect(exact.problem).to.not.have.property('truncated')
      expect(exact.problem.detail).to.equal('20 values are not valid.')
      expect(seen).to.deep.equal([])
    })

    it('gets at most `maxIssues` issues', async () => {
      const { app } = recording(plain, { maxIssues: 1 })
      const { problem } = await post(await open(app), '/?page=x', wrong(3))
      expect(problem.errors).to.have.length(1)
      expect(problem.detail).to.equal('More than 1 value is not valid.')
    })

    it('names the media type of a body that was not sent as JSON', async () => {
      const served = await open(recording({ body: object({ a: string().required() }) }).app)
      const errorsOf = async (type: string, body: string) =>
        (await post(served, '/', body, { 'Content-Type': type })).problem.errors
      for (const type of ['text/plain', 'application/octet-stream'])
        expect(await errorsOf(type, '{"a":"b"}')).to.eql([
          {
            location: 'body',
            path: '',
            rule: 'type',
            message: `The body was sent as ${type}. Send JSON as application/json.`,
          },
        ])
      for (const type of ['application/json', 'application/vnd.api+json'])
        expect(JSON.stringify(await errorsOf(type, '"b"')), type).to.not.contain('was sent as')
      expect(JSON.stringify(await errorsOf('application/json', '{}'))).to.not.contain('was sent as')
    })

    it('gets a small response whatever it sends', async () => {
      const z3 = z.object({ items: z.array(z.object({ qty: z.number() })) })
      const slow = items.test('own', 'never', () => true)
      const bodies = ['{"items":[' + '{},'.repeat(150_000) + '{}]}', '{"items":[' + '1,'.repeat(200_000) + '1]}', JSON.stringify({ items: 'x'.repeat(900_000) })] // prettier-ignore
      for (const body of [items, slow, z3]) {
        const served = await open(recording({ body }).app)
        for (const text of bodies) {
          const response = await served.fetch('/', { method: 'POST', body: text, headers: { 'Content-Type': 'application/json' } }) // prettier-ignore
          expect(response.status).to.equal(422)
          expect((await response.text()).length).to.be.lessThan(50_000)
        }
      }
    })
  })

  it('can have a limit from 1 to 1000 only', () => {
    for (const maxIssues of [0, -1, 1.5, 1_001, Number.NaN])
      expect(() => createApp({ maxIssues }))
        .to.throw(/maxIssues/)
        .with.property('code', 'MORTAR_OPTION' satisfies StartupError['code'])
    for (const maxIssues of [1, 1_000]) expect(() => createApp({ maxIssues })).to.not.throw()
  })
})

describe('An issue of a name with brackets', () => {
  const issuesOf = async (url: string, environment: 'production' | 'test' = 'test') => {
    const warnings: string[] = []
    const ignore = (): void => undefined
    const logger = { debug: ignore, info: ignore, error: ignore, warn: (text: string) => void warnings.push(text), child: () => logger }
    const query = object({ ids: array(number().required()).required(), page: object({ size: number() }), n: number() })
    const app = createApp({ environment, logger } as unknown as AppOptions).use(
      createRouter().get('/', { query }, () => 'ok'),
    )
    const { statusCode, body } = await app.inject(url)
    await app.close()
    const { errors = [] } = (statusCode === 422 ? JSON.parse(body) : {}) as { errors?: { message: string }[] }
    return { warnings, messages: errors.map(({ message }) => message) }
  } // prettier-ignore

  it('has a hint for a bracket and for its escape', async () => {
    for (const name of ['ids[]', 'ids%5B%5D', 'ids%5b%5d'])
      expect((await issuesOf(`/?${name}=1`)).messages.join(), name).to.include("has 'ids[]' instead: send ids=1&ids=2")
  }) // prettier-ignore

  it('has no hint if the declared name was sent too', async () => {
    const { messages } = await issuesOf('/?ids=1&n=x&n[]=1')
    expect(messages).to.have.length(1)
    expect(messages[0]).to.not.include('instead')
  })

  it('quotes at most 60 characters of the name, in the message and in the log', async () => {
    const long = `[${'x'.repeat(500)}]`
    const { messages } = await issuesOf(`/?ids${long}=1`)
    expect(messages[0]).to.include(`'ids[${'x'.repeat(56)}…'`)
    const { warnings } = await issuesOf(`/?ids=1&page${long}=1`)
    expect(warnings.join())
      .to.include(`'page[${'x'.repeat(55)}…'`)
      .and.not.include('x'.repeat(57))
  })

  it('is not in the log of production', async () => {
    expect((await issuesOf('/?ids=1&page[size]=1', 'test')).warnings).to.have.length(1)
    expect((await issuesOf('/?ids=1&page[size]=1', 'production')).warnings).to.have.length(0)
  })
})

describe('A body of text', () => {
  it('has the issues of its schema, and no word of its media type', async () => {
    const app = createApp({ logger: false }).use(
      createRouter().post('/', { body: string().min(5) }, () => 'ok'),
    )
    const { body } = await app.inject({
      method: 'POST',
      url: '/',
      headers: { 'content-type': 'text/plain' },
      payload: 'ab',
    })
    const { errors } = JSON.parse(body) as { errors: unknown }
    expect(errors).to.deep.equal([
      { location: 'body', path: '', rule: 'min', params: { min: 5 }, message: 'this must be at least 5 characters' },
    ])
    await app.close()
  }) // prettier-ignore
})

describe('The issues of a 422', () => {
  const body = object({
    kind: string().oneOf(['a', 'b']).required(),
    size: number().max(9, '${value} is above ${max}'),
    rows: array(object({ n: number().max(9).label('Number "n"'), 'a"b': string().min(2) }).required()),
  })
  const sent = [
    { kind: 'c', rows: [{ n: 10 }], size: 10 },
    { kind: 'c', rows: [{ n: 1 }, { n: 10, 'a"b': '"' }], size: 11 },
    { kind: 'd', rows: [{ n: 11 }, { n: 'x' }] },
  ]
  const issuesOf = (value: unknown): unknown[] => {
    try {
      body.validateSync(value, { abortEarly: false })
      return []
    } catch (error) {
      return (error as ValidationError).inner.map(({ path, message }) => ({ path, message }))
    }
  }

  throughBothAdapters((open) => {
    it('are those of yup each time that a rule is broken', async () => {
      const served = await open(recording({ body }).app)
      for (const each of [...sent, ...sent]) {
        const { problem } = await post(served, '/', each)
        expect(problem.errors.map(({ path, message }) => ({ path, message }))).to.have.deep.members(
          issuesOf(each),
        )
      }
    })

    for (const change of [{ message: 'changed' }, { location: 'a "place"' }, { params: { max: 8 } }])
      it(`are sent as an application changed them: ${Object.keys(change).join()}`, async () => {
        const { app } = recording({ body })
        app.use(async (_ctx, next) => {
          try {
            return await next()
          } catch (error) {
            for (const issue of (error as ValidationFailed).errors) Object.assign(issue, change)
            throw error
          }
        })
        const served = await open(app)
        for (const each of [...sent, ...sent]) {
          const { problem } = await post(served, '/', each)
          for (const issue of problem.errors) expect(issue).to.deep.include(change)
        }
      })
  })
})
