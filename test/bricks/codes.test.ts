import { expect } from 'chai'
import { createApp, createRouter, defineBrick, HttpError, PROBLEM_CODES, type AnyBrick } from 'mortar'
import { problemErrors, startupErrors } from 'mortar/kit'
import { createClient } from 'mortar/testing'
import { StartupErrors } from '../../src/errors/startup-error.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'

const PROBLEMS = {
  counter_full: { status: 409, title: 'Counter full' },
  counter_gone: { status: 410, title: 'Counter gone', type: 'https://example.com/counter-gone' },
} as const

const problem = problemErrors(PROBLEMS)

const counter = defineBrick({
  name: 'counter',
  problems: PROBLEMS,
  routes: [
    createRouter()
      .get('/full', () => {
        throw problem('counter_full', 'The counter is at 3.', { extensions: { limit: 3 } })
      })
      .get('/gone', () => {
        throw problem('counter_gone', 'The counter was removed.')
      })
      .get('/by-hand', () => {
        throw new HttpError(409, 'The counter is at 4.', { code: 'counter_full' })
      })
      .get('/own', () => {
        throw new HttpError(409, 'The slug is taken.', { code: 'slug_taken' })
      }),
  ],
})

const silent = (...bricks: AnyBrick[]) => createApp({ bricks, logger: false })
const refusalOf = (...bricks: AnyBrick[]) => startupErrorOf(() => silent(...bricks).ready())
const withProblems = (name: string, problems: object): AnyBrick => ({ name, problems }) as AnyBrick
const withCodes = (name: string, ...codes: string[]): AnyBrick => ({
  name,
  startupCodes: Object.fromEntries(
    codes.map((code) => [code, { cause: 'It is wrong.', remedy: 'Correct it.' }]),
  ),
})

describe("A brick's problem codes", () => {
  it('are sent with their title and a URN, as the codes of the core are', async () => {
    const client = createClient(silent(counter))
    const { status, body } = await client.get('/full')
    expect(status).to.equal(409)
    expect(body).to.include({
      type: 'urn:mortar:problem:counter_full',
      title: 'Counter full',
      detail: 'The counter is at 3.',
      code: 'counter_full',
      limit: 3,
    })
    expect((await client.get('/by-hand')).body).to.include({ type: body.type, title: 'Counter full' })
  })

  it('may have a type of their own', async () => {
    const { status, body } = await createClient(silent(counter)).get('/gone')
    expect([status, body.type]).to.deep.equal([410, 'https://example.com/counter-gone'])
  })

  it('belong to the applications that have the brick', async () => {
    const app = silent({ name: 'copy', routes: counter.routes! })
    const { body } = await createClient(app).get('/full')
    expect(body).to.include({ type: 'about:blank', title: 'Conflict', code: 'counter_full' })
  })

  it("leave an application's own code without a URN", async () => {
    expect((await createClient(silent(counter)).get('/own')).body).to.include({
      type: 'about:blank',
      title: 'Conflict',
      code: 'slug_taken',
    })
  })

  it('are listed in the OpenAPI document beside the codes of the core', async () => {
    const { body } = await createClient(silent(counter)).get('/openapi.json')
    const listed = body.components.schemas.Problem.properties.code.examples
    expect(listed).to.have.members([...Object.keys(PROBLEM_CODES), ...Object.keys(PROBLEMS)])
  })

  it('are rejected when the core has them', async () => {
    const error = await refusalOf(withProblems('counter', { conflict: { status: 409, title: 'Mine' } }))
    expect(error.code).to.equal('MORTAR_BRICK_PROBLEM')
    expect(error.message).to.include("'counter'").and.include('the core').and.include("'counter_conflict'")
  })

  it('are refused when another brick has them, naming both', async () => {
    const error = await refusalOf(counter, withProblems('meter', PROBLEMS))
    expect(error.code).to.equal('MORTAR_BRICK_PROBLEM')
    expect(error.message).to.include("'counter'").and.include("'meter'").and.include("'counter_full'")
  })

  for (const [fault, problems, words] of [
    ['a name in capitals', { COUNTER_FULL: { status: 409, title: 'Full' } }, 'lower case'],
    ['no status', { counter_full: { title: 'Full' } }, 'status'],
    ['a status of success', { counter_full: { status: 200, title: 'Full' } }, '400 to 599'],
    ['no title', { counter_full: { status: 409 } }, 'title'],
    ['no definition', { counter_full: null }, 'counter_full'],
  ] as const)
    it(`are refused with ${fault}`, async () => {
      const error = await refusalOf(withProblems('counter', problems))
      expect(error.code).to.equal('MORTAR_BRICK_CODE')
      expect(error.message).to.include("'counter'").and.include(words)
    })

  it('are refused in a list', async () => {
    expect((await refusalOf(withProblems('counter', ['counter_full']))).code).to.equal('MORTAR_BRICK_SHAPE')
  })
})

describe("A brick's start-up codes", () => {
  const codes = { COUNTER_LIMIT: { cause: 'The limit is wrong', remedy: 'Write a whole number.' } } as const
  const fault = startupErrors({ brick: 'counter', codes, page: 'https://example.com/counter#codes' })

  it('make errors with the remedy, the brick and the page of their table', () => {
    const error = fault('COUNTER_LIMIT', 'limit is -1.')
    expect(error).to.include({
      code: 'COUNTER_LIMIT',
      remedy: 'Write a whole number.',
      brick: 'counter',
      page: 'https://example.com/counter#codes',
    })
    expect(error.message).to.equal('limit is -1.\n  Remedy: Write a whole number. [COUNTER_LIMIT]')
  })

  it('make errors with a more precise remedy and a cause', () => {
    const cause = new Error('why')
    const error = fault('COUNTER_LIMIT', 'limit is -1.', { remedy: 'Write 1 or more.', cause })
    expect([error.remedy, error.cause]).to.deep.equal(['Write 1 or more.', cause])
  })

  it('stay those of the only error of several', () => {
    const only = fault('COUNTER_LIMIT', 'limit is -1.', { files: ['jobs/a.ts'], cause: new Error('why') })
    const all = new StartupErrors('Faults:', [only])
    expect({ ...all }).to.deep.equal({ ...only, errors: [only] })
    expect([all.message, all.cause]).to.deep.equal([only.message, only.cause])
  })

  it('begin with the name of the brick', async () => {
    await silent(withCodes('counter', 'COUNTER_LIMIT'), withCodes('rate-limits', 'RATE_LIMITS_STORE')).ready()
    for (const code of ['LIMIT', 'COUNTER_', 'counter_limit', 'OTHER_LIMIT', 'COUNTERLIMIT']) {
      const error = await refusalOf(withCodes('counter', code))
      expect(error.code, code).to.equal('MORTAR_BRICK_CODE')
      expect(error.message).to.include(`'${code}'`).and.include('COUNTER_')
    }
  })

  it('are refused without a cause or a remedy', async () => {
    for (const entry of [null, {}, { cause: 'It is wrong.' }, { remedy: 'Correct it.' }]) {
      const error = await refusalOf({ name: 'counter', startupCodes: { COUNTER_LIMIT: entry } } as never)
      expect(error.code).to.equal('MORTAR_BRICK_CODE')
    }
  })

  it('are refused when two bricks have one, naming both', async () => {
    const error = await refusalOf(withCodes('a', 'A_B_LIMIT'), withCodes('a-b', 'A_B_LIMIT'))
    expect(error.code).to.equal('MORTAR_BRICK_CODE')
    expect(error.message).to.include("'a'").and.include("'a-b'").and.include("'A_B_LIMIT'")
  })
})

describe("A brick's pages", () => {
  it('are refused unless they are paths by label', async () => {
    for (const pages of [['/a'], { Page: 'a' }, { Page: 5 }, '/a'])
      expect((await refusalOf({ name: 'counter', pages } as never)).code).to.equal('MORTAR_BRICK_SHAPE')
  })

  it('label their routes', async () => {
    const routes = [
      createRouter()
        .get('/_framework/counter', () => 'page')
        .post('/_framework/counter', () => 'reset'),
    ]
    const app = silent({ name: 'counter', pages: { Counter: '/_framework/counter', Gone: '/gone' }, routes })
    await app.ready()
    const labelled = app.routes.filter(({ page }) => page !== undefined)
    expect(labelled.map(({ method, path, page }) => [method, path, page])).to.deep.equal([
      ['GET', '/_framework/counter', 'Counter'],
      ['GET', '/openapi.json', 'OpenAPI'],
      ['GET', '/docs', 'Docs'],
    ])
  })
})
