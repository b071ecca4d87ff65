import { expect } from 'chai'
import { mixed, number, object, string } from 'yup'
import { z } from 'zod'
import type { Route } from '../../src/routing/route.ts'
import { documentOf, operationFor } from './read-document.ts'
import { routeOf } from './routes.ts'

const note = object({ id: number().required(), text: string().max(100).required() })

describe('OpenAPI operation: responses', () => {
  const statusesOf = (route: Route) => Object.keys(operationFor(route).responses)

  it('are any success if none is declared, since the handler decides', () => {
    expect(operationFor(routeOf('DELETE /a')).responses).to.deep.equal({ '2XX': { description: 'Success.' } })
  })

  it('are the declared responses, with their schemas', () => {
    const { responses } = operationFor(routeOf('POST /notes', { response: { 201: note, 404: string() } }))
    expect(Object.keys(responses)).to.deep.equal(['201', '404'])
    expect(responses['201']!.content!['application/json']!.schema).to.deep.include({ type: 'object' })
    expect(responses['404']!.content).to.have.all.keys('text/plain')
  })

  it('include a success even if only a failure is declared', () => {
    expect(statusesOf(routeOf('GET /a', { response: { 404: note } }))).to.deep.equal(['404', '2XX'])
  })

  it('are problems with the phrase of their status for the key problems', () => {
    const { responses } = operationFor(
      routeOf('GET /a', {
        problems: [404, 409, 416, 429, 401],
        response: { 200: note, 409: { description: 'It exists.' }, 410: { description: 'It is gone.' } },
      }),
    )
    expect(Object.keys(responses)).to.deep.equal(['200', '401', '404', '409', '410', '416', '429'])
    for (const [status, description] of [
      ['401', 'No valid credential.'],
      ['404', 'Not Found.'],
      ['409', 'It exists.'],
      ['410', 'It is gone.'],
      ['416', 'Range Not Satisfiable.'],
      ['429', 'Too Many Requests.'],
    ] as const) {
      expect(responses[status]!.description).to.equal(description)
      expect(responses[status]!.content).to.deep.equal({
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
      })
    }
    expect(responses['429']).to.have.nested.property('headers.Retry-After')
    expect(responses['401']).to.have.nested.property('headers.WWW-Authenticate')
  })

  it('have the header of their status if they are declared by a description alone', () => {
    const { responses } = operationFor(
      routeOf('GET /a', { response: { 401: { description: 'Wrong.' }, 429: { description: 'Too many.' } } }),
    )
    expect(responses['401']).to.include({ description: 'Wrong.' })
    expect(responses['401']).to.have.nested.property('headers.WWW-Authenticate')
    expect(responses['429']).to.include({ description: 'Too many.' })
    expect(responses['429']).to.have.nested.property('headers.Retry-After')
  })

  it('have no 429 for OPTIONS, which no limit counts', () => {
    const statuses = ['OPTIONS', 'GET'].map((method) =>
      Object.keys(operationFor(routeOf(`${method} /a`, { limit: 'anybody' })).responses),
    )
    expect(statuses).to.deep.equal([['2XX'], ['429', '2XX']])
  })

  it('keep what the framework says about a status that problems names too', () => {
    const route = routeOf('POST /a', { problems: [400, 422, 429], body: note, limit: 'anybody' })
    const { responses } = operationFor(route)
    expect(responses['400']!.description).to.equal('The body cannot be read.')
    expect(responses['429']).to.have.nested.property('headers.RateLimit-Policy')
    expect(responses['422']!.content!['application/problem+json']!.schema).to.deep.equal({
      $ref: '#/components/schemas/ValidationProblem',
    })
  })

  it('have the media type and, without a schema, the kind of body that it means', () => {
    const text = { type: 'string' }
    for (const [type, schema] of [
      ['text/csv; header=present', text],
      ['text/event-stream', text],
      ['application/xml', text],
      ['application/yaml', text],
      ['application/x-ndjson', text],
      ['image/svg+xml', text],
      ['application/ld+json', {}],
      ['application/pdf', { type: 'string', format: 'binary' }],
      ['image/png', { type: 'string', format: 'binary' }],
    ] as const)
      expect(
        operationFor(routeOf('GET /a', { response: { 200: { type } } })).responses['200']!.content,
      ).to.deep.equal({ [type]: { schema } })
    const events = { type: 'text/event-stream', schema: note }
    const { content } = operationFor(routeOf('GET /a', { response: { 200: events } })).responses['200']!
    expect(content!['text/event-stream']!.schema).to.deep.include({ required: ['id', 'text'] })
    const bytes = { type: 'application/zip', schema: mixed().meta({ type: 'string', format: 'binary' }) }
    expect(
      operationFor(routeOf('GET /a', { response: { 200: bytes } })).responses['200']!.content![
        'application/zip'
      ]!.schema,
    ).to.deep.equal({ type: 'string', format: 'binary' })
  })

  it('have no content for 204: {} and redirects', () => {
    const response = { 204: {}, 302: {}, 304: { description: 'As before.' } }
    expect(operationFor(routeOf('DELETE /a', { response })).responses).to.deep.equal({
      204: { description: 'No Content.' },
      302: { description: 'Found.' },
      304: { description: 'As before.' },
    })
  })

  it('have no content for HEAD, 204, 205 and 304', () => {
    expect(
      operationFor(routeOf('HEAD /notes/:id', { response: { 200: note } })).responses['200'],
    ).not.to.have.property('content')
    for (const status of [204, 205, 304])
      for (const content of [z.undefined(), { type: 'text/csv' }])
        expect(
          operationFor(routeOf('PATCH /users/:id', { response: { [status]: content } })).responses[status],
        ).to.have.all.keys('description')
  })

  it('include only the problems that the declarations can cause', () => {
    const schema = object({ id: string() })
    expect(statusesOf(routeOf('GET /a', { auth: false }))).to.deep.equal(['2XX'])
    expect(statusesOf(routeOf('GET /a', { auth: true }))).to.deep.equal(['401', '2XX'])
    expect(statusesOf(routeOf('GET /a', { auth: 'x' }))).to.deep.equal(['401', '403', '2XX'])
    for (const key of ['params', 'query', 'headers'])
      expect(statusesOf(routeOf('GET /a/:id', { [key]: schema })), key).to.deep.equal(['422', '2XX'])
    expect(statusesOf(routeOf('POST /a', { body: schema, auth: ['x'] }))).to.deep.equal([
      '400',
      '401',
      '403',
      '413',
      '415',
      '422',
      '2XX',
    ])
  })

  it('are problem documents of one shared schema', () => {
    const { components, paths } = documentOf([routeOf('POST /a', { body: note, auth: true })])
    const { responses } = paths['/a']!.post!
    for (const [status, name] of [
      ['401', 'Problem'],
      ['413', 'Problem'],
      ['422', 'ValidationProblem'],
    ] as const)
      expect(responses[status]!.content).to.deep.equal({
        'application/problem+json': { schema: { $ref: `#/components/schemas/${name}` } },
      })
    expect(components.schemas).to.have.keys('Problem', 'ValidationProblem')
  })

  it('keep a declared response for the status of a problem', () => {
    const { responses } = operationFor(routeOf('GET /a', { auth: true, response: { 401: note } }))
    expect(responses['401']!.content).to.have.keys('application/problem+json')
    expect(responses['401']!.content!['application/problem+json']!.schema).to.deep.include({ type: 'object' })
  })
})
