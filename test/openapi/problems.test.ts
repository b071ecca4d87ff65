import { expect } from 'chai'
import { createApp, createRouter, defineRoute, type Router, StartupError } from 'mortar'
import { createClient } from 'mortar/testing'

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>
}

async function pathsOf(router: Router): Promise<Document['paths']> {
  const app = createApp({ environment: 'test' }).use(router)
  const { paths } = (await createClient(app).get('/openapi.json')).body as Document
  await app.close()
  return paths
}

describe('The router option hidden', () => {
  it('hides the routes of routers below too, unless they say otherwise', async () => {
    const inner = createRouter({ prefix: '/inner' }).get('/', () => 1)
    const shown = createRouter({ prefix: '/shown', hidden: false }).get('/', () => 1)
    const router = createRouter({ prefix: '/a', hidden: true })
      .get('/', () => 1)
      .use(inner)
      .use(shown)
    expect(Object.keys(await pathsOf(router))).to.deep.equal(['/a/shown'])
  })
})

describe('The route key problems', () => {
  it('adds to the problems of its routers', async () => {
    const child = createRouter({ prefix: '/b', problems: [409] }).post('/c', { problems: [416] }, () => 1)
    const router = createRouter({ prefix: '/a', problems: [404] })
      .get('/', () => 1)
      .use(child)
    const paths = await pathsOf(router)
    expect(Object.keys(paths['/a']!['get']!.responses)).to.deep.equal(['404', '2XX'])
    expect(Object.keys(paths['/a/b/c']!['post']!.responses)).to.deep.equal(['404', '409', '416', '2XX'])
  })

  it('may be any status of an error', async () => {
    const paths = await pathsOf(createRouter().get('/a', { problems: [400, 599 as never] }, () => 1))
    expect(Object.keys(paths['/a']!['get']!.responses)).to.deep.equal(['400', '599', '2XX'])
  })

  for (const [what, problems, found] of [
    ['a status below 400', [404, 204], '204 in `problems`'],
    ['a status above 599', [600], '600 in `problems`'],
    ['a string', ['404'], 'a string in `problems`'],
    ['no list', 404, 'a number as `problems`'],
    ['undefined', undefined, 'undefined as `problems`'],
  ] as const)
    it(`stops the start with the place and the remedy for ${what}`, async () => {
      const { definition, handler } = defineRoute({ problems: problems as never }, () => 1)
      const app = createApp({ environment: 'test' }).use(createRouter().get('/a', definition, handler))
      const error = await app.ready().then(
        () => undefined,
        (thrown: unknown) => thrown as StartupError,
      )
      expect(error).to.be.an.instanceOf(StartupError)
      expect(error!.message).to.contain('GET /a').and.contain(`has ${found}`)
      expect(error!.remedy).to.contain('from 400 to 599 such as [404, 409]')
    })

  it('of a router stops the start if it is not a list', () => {
    expect(() => createRouter({ problems: 404 as never })).to.throw(StartupError, /problems of createRouter/)
  })

  it('has no effect on the responses', async () => {
    const router = createRouter().delete(
      '/a',
      { response: { 204: {}, 409: { description: 'Taken.' } } },
      () => undefined,
    )
    const app = createApp({ environment: 'test' }).use(router)
    expect((await createClient(app).delete('/a')).status).to.equal(204)
    await app.close()
  })
})
