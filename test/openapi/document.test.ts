import { Validator } from '@seriousme/openapi-schema-validator'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { expect } from 'chai'
import * as v from 'valibot'
import { array, lazy, number, object, string } from 'yup'
import { z } from 'zod'
import { StartupError } from '../../src/errors/startup-error.ts'
import { file } from '../../src/schema/yup/file.ts'
import type { RouteDefinition } from '../../src/routing/route.ts'
import { documentOf, operationFor, SECURITY } from './read-document.ts'
import { routeOf } from './routes.ts'

const note = object({ id: number().required(), text: string().max(100).required() })

/** One route of every kind. */
const EVERYTHING = [
  routeOf('GET /'),
  routeOf('GET /notes', {
    query: object({ page: number().integer().min(1), tag: array(string().required()) }),
    headers: object({ 'x-tenant': string().required(), authorization: string(), Accept: string() }),
    response: { 200: array(note).required() },
    tags: ['notes', 'lists', 'notes'],
    summary: 'List the notes',
  }),
  routeOf('POST /notes', { auth: true, body: note, response: { 201: note, 409: object({ why: string() }) } }),
  routeOf('DELETE /notes/:id', { auth: ['owner', 'admin'], params: object({ id: number().required() }) }),
  routeOf('PUT /files/*path', { consumes: ['image/png', 'image/jpeg'], auth: 'admin' }),
  routeOf('PATCH /users/:id', { body: z.object({ name: z.string() }), response: { 204: z.undefined() } }),
  routeOf('HEAD /notes/:id', { response: { 200: note } }),
  routeOf('OPTIONS /notes/:id'),
  routeOf('GET /café/:a-b', { description: 'Coffee.', hidden: false }),
]

describe('OpenAPI document', () => {
  it('is valid OpenAPI 3.1 for every kind of route, and without routes', async () => {
    for (const routes of [EVERYTHING, []]) {
      const document = documentOf(routes, { security: SECURITY, servers: [{ url: 'https://example.com' }] })
      const result = await new Validator().validate(JSON.parse(JSON.stringify(document)))
      expect(result.errors ?? []).to.deep.equal([])
      expect(result.valid).to.equal(true)
    }
  })

  it('names its application', () => {
    const servers = [{ url: '/api', description: 'here' }]
    expect(documentOf([], { description: 'All notes.', servers })).to.deep.include({
      openapi: '3.1.1',
      info: { title: 'Notes', description: 'All notes.', version: '1.2.3' },
      servers,
    })
  })

  it('is the same, to the byte, whatever the order of the routes', () => {
    const forward = JSON.stringify(documentOf(EVERYTHING))
    expect(JSON.stringify(documentOf(EVERYTHING.toReversed()))).to.equal(forward)
    expect(JSON.stringify(documentOf(EVERYTHING))).to.equal(forward)
  })

  it('sorts the codes of problems, which bricks add in the order of their use', () => {
    const { Problem } = documentOf([], { problems: ['not_found', 'a_code', 'busy'] }).components.schemas
    expect(Problem)
      .to.have.nested.property('properties.code.examples')
      .that.eql(['a_code', 'busy', 'not_found'])
  })

  it('leaves out hidden routes and routes of the framework', () => {
    const routes = [
      routeOf('GET /secret', { hidden: true }),
      routeOf('GET /_framework'),
      routeOf('GET /_framework/mail/:id'),
      routeOf('GET /_frameworks'),
    ]
    expect(Object.keys(documentOf(routes).paths)).to.deep.equal(['/_frameworks'])
  })

  it('lists every tag once, sorted', () => {
    expect(documentOf(EVERYTHING).tags).to.deep.equal([{ name: 'lists' }, { name: 'notes' }])
    expect(documentOf(EVERYTHING).paths['/notes']!.get).to.deep.include({
      tags: ['notes', 'lists'],
      summary: 'List the notes',
    })
  })

  it('describes a parameter instead of a catch-all at the same path, and warns', () => {
    const warnings: string[] = []
    const routes = [routeOf('GET /files/*path'), routeOf('POST /files/:name')]
    const document = documentOf(routes, { warn: (message) => warnings.push(message) })
    expect(Object.keys(document.paths)).to.deep.equal(['/files/{name}'])
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.include('GET /files/*path').and.include('routes/files/*path.GET.ts')
  })

  it('warns of a schema that it cannot describe, with place, route and origin', () => {
    const warnings: string[] = []
    const routes = [
      routeOf('GET /a', { query: string(), headers: object({}) }),
      routeOf('POST /b', { body: object({ any: lazy((value) => (value ? string() : number())) }) }),
    ]
    documentOf(routes, { warn: (message) => warnings.push(message) })
    expect(warnings).to.have.length(2)
    expect(warnings[0]).to.include('query of GET /a (routes/a.GET.ts)')
    expect(warnings[1]).to.include('any in body of POST /b (routes/b.POST.ts)')
  })
})

describe('OpenAPI operation: parameters', () => {
  it('are declared for the path even without a schema', () => {
    expect(operationFor(routeOf('GET /users/:id/posts/:post')).parameters).to.deep.equal([
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'post', in: 'path', required: true, schema: { type: 'string' } },
    ])
  })

  it('are required in the path even if the schema makes them optional', () => {
    const route = routeOf('GET /users/:id', { params: object({ id: number() }) })
    expect(operationFor(route).parameters).to.have.length(1)
    expect(operationFor(route).parameters![0]).to.deep.include({ name: 'id', in: 'path', required: true })
  })

  it('describe the value of a catch-all', () => {
    const [parameter] = operationFor(routeOf('GET /files/*path')).parameters!
    expect(parameter).to.deep.include({ name: 'path', in: 'path', required: true, 'x-catch-all': true })
    expect(parameter!.description).to.include('slashes')
  })

  it('are never null, which text cannot be', () => {
    const status = string().oneOf(['open', 'closed']).label('Status').nullable()
    const query = object({ page: number().nullable(), sort: string().oneOf(['a', 'b']).nullable(), status })
    expect(operationFor(routeOf('GET /a', { query })).parameters!.map(({ schema }) => schema)).to.deep.equal([
      { type: 'number' },
      { type: 'string', enum: ['a', 'b'] },
      { $ref: '#/components/schemas/Status' },
    ])
  })

  it('have every type of a union', () => {
    const query = z.object({ page: z.union([z.number(), z.literal('last')]) })
    const [parameter] = operationFor(routeOf('GET /a', { query })).parameters!
    expect(parameter!.schema).to.have.property('anyOf').with.length(2)
  })

  it('come from query and headers, without the headers that OpenAPI describes elsewhere', () => {
    const parameters = operationFor(EVERYTHING[1]!).parameters!
    expect(parameters.map(({ name, in: location, required }) => [location, name, required])).to.deep.equal([
      ['query', 'page', undefined],
      ['query', 'tag', undefined],
      ['header', 'x-tenant', true],
    ])
  })
})

describe('OpenAPI operation: request body', () => {
  it('is JSON by default and required', () => {
    const { requestBody } = operationFor(routeOf('POST /notes', { body: note }))
    expect(requestBody!.required).to.equal(true)
    expect(requestBody!.content).to.have.all.keys('application/json')
    expect(requestBody!.content['application/json']!.schema).to.deep.include({ required: ['id', 'text'] })
  })

  it('is optional if every key is optional', () => {
    // The library valibot describes such an object with an empty list of required keys.
    const described = toStandardJsonSchema(v.object({ text: v.optional(v.string()) }))
    for (const body of [object({ text: string() }), described]) {
      const { requestBody } = operationFor(routeOf('POST /notes', { body }))
      expect(requestBody).not.to.have.property('required')
    }
  })

  it('has the media types that the route reads', () => {
    const consumes = ['multipart/form-data', 'application/json']
    expect(
      operationFor(routeOf('POST /notes', { body: note, consumes })).requestBody!.content,
    ).to.have.all.keys(consumes)
    expect(operationFor(EVERYTHING[4]!).requestBody!.content).to.deep.equal({
      'image/png': { schema: { type: 'string', format: 'binary' } },
      'image/jpeg': { schema: { type: 'string', format: 'binary' } },
    })
  })

  it('of a file schema is multipart with a binary part', () => {
    const picture = file({ maxSize: '1mb', types: ['image/*', 'application/pdf'] }).required()
    const body = object({ title: string(), picture, more: array(file().label('More')) })
    const { requestBody } = operationFor(routeOf('POST /pictures', { body }))
    expect(requestBody!.content).to.have.all.keys('multipart/form-data')
    const { schema, encoding } = requestBody!.content['multipart/form-data']! as Record<string, unknown>
    expect(schema).to.deep.equal({
      type: 'object',
      properties: {
        title: { type: 'string' },
        picture: { type: 'string', format: 'binary' },
        more: { type: 'array', items: { type: 'string', format: 'binary', title: 'More' } },
      },
      required: ['picture'],
    })
    expect(encoding).to.deep.equal({ picture: { contentType: 'image/*, application/pdf' } })
    const consumes = ['multipart/form-data', 'application/json']
    const { content } = operationFor(routeOf('POST /pictures', { body, consumes })).requestBody!
    expect([content['multipart/form-data'], content['application/json']]).to.deep.equal([
      { schema, encoding },
      { schema, example: { title: 'title', more: [] } },
    ])
  })

  it('of a route that reads the bytes is in the document, with its media types', () => {
    const raw = { rawBody: true }
    const bodyOf = (definition: RouteDefinition) => operationFor(routeOf('POST /a', definition)).requestBody
    expect(
      bodyOf({ ...raw, consumes: ['text/csv', 'application/json', 'application/x-www-form-urlencoded'] }),
    ).to.deep.equal({
      required: true,
      content: {
        'text/csv': { schema: { type: 'string' } },
        'application/json': { schema: {} },
        'application/x-www-form-urlencoded': { schema: { type: 'object', additionalProperties: true } },
      },
    })
    expect(bodyOf(raw)!.content).to.deep.equal({ '*/*': { schema: {} } })
    expect(bodyOf({ ...raw, body: note })!.content).to.have.all.keys('application/json')
  })

  it('is absent for a route that reads the stream itself or declares no body', () => {
    expect(operationFor(routeOf('POST /notes', { consumes: [] }))).not.to.have.property('requestBody')
    expect(operationFor(routeOf('POST /notes'))).not.to.have.property('requestBody')
  })
})

describe('OpenAPI operation: guard', () => {
  it('names the security scheme if a route needs a signed-in user', () => {
    const document = documentOf([routeOf('GET /a', { auth: true }), routeOf('GET /b')], {
      security: SECURITY,
    })
    expect(document.components.securitySchemes).to.deep.equal({ bearer: SECURITY.scheme })
    expect(document.paths['/a']!.get!.security).to.deep.equal([{ bearer: [] }])
    expect(document.paths['/a']!.get).not.to.have.property('x-policies')
    expect(document.paths['/b']!.get).not.to.have.property('security')
  })

  it('never shows a guarded route as public, without a scheme or with a guard of unknown shape', () => {
    for (const auth of [true, [], 0, null])
      expect(operationFor(routeOf('GET /a', { auth: auth as true })).security).to.deep.equal([{ bearer: [] }])
  })

  it('names the policies in x-policies, in the description and in the 403', () => {
    const operation = operationFor(routeOf('GET /a', { auth: ['owner', 'admin'], description: 'One note.' }))
    expect(operation['x-policies']).to.deep.equal(['owner', 'admin'])
    expect(operation.description).to.equal('One note.\n\nRequires the policies `owner` and `admin`.')
    expect(operation.responses['403']!.description).to.include('`owner` and `admin`')
    expect(operationFor(routeOf('GET /a', { auth: 'self' })).description).to.equal(
      'Requires the policy `self`.',
    )
  })
})

describe('OpenAPI operation: id', () => {
  const ids: [line: string, id: string][] = [
    ['GET /', 'getRoot'],
    ['GET /users', 'getUsers'],
    ['GET /users/:id', 'getUsersById'],
    ['POST /auth/login', 'postAuthLogin'],
    ['POST /auth/change-password', 'postAuthChangePassword'],
    ['DELETE /users/:user_id/posts/:postId', 'deleteUsersByUserIdPostsByPostId'],
    ['GET /files/*path', 'getFilesByPath'],
    ['GET /v1.0/café', 'getV10Café'],
    ['GET /area/m²', 'getAreaM'],
    ['OPTIONS /users', 'optionsUsers'],
  ]
  for (const [line, id] of ids)
    it(`of ${line} is ${id}`, () => expect(operationFor(routeOf(line)).operationId).to.equal(id))

  it('is the id that the route declares', () => {
    expect(operationFor(routeOf('GET /a', { operationId: 'readA' })).operationId).to.equal('readA')
  })

  it('has a number for a layer of a Koa router where a route has it, also one of a later path', () => {
    const layers = ['/a-b', '/a_b', '/a.b'].map((path) => ({
      ...routeOf(`GET ${path}`),
      adopted: { router: {}, sensitive: true },
    }))
    const { paths } = documentOf([...layers, routeOf('GET /a/b')])
    const given = ['/a-b', '/a.b', '/a_b', '/a/b'].map((path) => paths[path]!['get']!.operationId)
    expect(given).to.deep.equal(['getAB2', 'getAB3', 'getAB4', 'getAB'])
  })

  it('is rejected when two operations have it; the error names both', () => {
    const routes = [routeOf('GET /a-b'), routeOf('GET /a_b')]
    expect(() => documentOf(routes))
      .to.throw(StartupError, /routes\/a-b\.GET\.ts.*routes\/a_b\.GET\.ts/)
      .that.deep.includes({
        code: 'MORTAR_OPENAPI_OPERATION_ID',
        files: ['routes/a-b.GET.ts', 'routes/a_b.GET.ts'],
      })
    expect(() => documentOf([routes[0]!, routeOf('GET /a_b', { hidden: true })])).not.to.throw()
  })
})
