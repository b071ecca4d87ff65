import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { metrics } from '@mortar/metrics'
import { redis } from '@mortar/redis'
import { createApp, createRouter, defineBrick, env, singleton } from 'mortar'
import { collectProblems } from '../../src/support/env/placeholders.ts'
import { openHandles } from '../support/open-handles.ts'

describe('an application that is only inspected', () => {
  afterEach(() => void delete process.env['FRAMEWORK_MODE'])

  it('registers its routes without starting, makes no service, and leaves no open handle', async () => {
    const seen: string[] = []
    const brick = defineBrick({
      name: 'noisy',
      services: { noisy: singleton(() => seen.push('made')) },
      routes: [createRouter().get('/noisy', () => 1)],
      start: () => seen.push('started'),
    })
    // Mocha's own timer of the test runs by then.
    await nextTurn()
    const before = openHandles()
    const { routes, document, bricks, serviceNames } = await createApp({ bricks: [brick] }).inspect()
    expect(routes.map(({ path }) => path)).to.include('/noisy')
    expect(document()).to.have.nested.property('paths./noisy')
    expect(bricks.map(({ name }) => name)).to.deep.equal(['noisy'])
    expect(serviceNames).to.include('noisy')
    expect(seen).to.deep.equal([])
    expect(openHandles()).to.deep.equal(before)
  })

  it('still reports its errors', async () => {
    const app = createApp().use(createRouter().get('/', { auth: true }, () => 1))
    const error: unknown = await app.inspect().catch((thrown: unknown) => thrown)
    expect(error).to.include({ code: 'MORTAR_AUTH_MISSING' })
  })

  it('cannot start after inspect(), or while FRAMEWORK_MODE is inspect', async () => {
    const looked = createApp()
    await looked.inspect()
    const after: unknown = await looked.ready().catch((thrown: unknown) => thrown)
    expect(after).to.include({ code: 'MORTAR_INSPECTING' })
    process.env['FRAMEWORK_MODE'] = 'inspect'
    const during: unknown = await createApp()
      .listen(0)
      .catch((thrown: unknown) => thrown)
    expect(during).to.include({ code: 'MORTAR_INSPECTING' })
  })

  it('gets placeholders of the right type for missing variables, and collects their problems', async () => {
    process.env['FRAMEWORK_MODE'] = 'inspect'
    const { result, problems } = await collectProblems(async () =>
      env.all((read) => ({
        port: read.port('TEST_NO_PORT'),
        count: read.integer('TEST_NO_COUNT', { min: 7 }),
        url: read.url('TEST_NO_URL', { protocols: ['postgres'] }),
        word: read.oneOf('TEST_NO_WORD', ['a', 'b']),
        list: read.list('TEST_NO_LIST'),
        secret: read.secret('TEST_NO_SECRET'),
        kept: read.string('TEST_NO_DEFAULT', { default: 'own' }),
        none: read.string('TEST_NO_OPTIONAL', { optional: true }),
      })),
    )
    expect(result).to.deep.include({ port: 3000, count: 7, word: 'a', kept: 'own', none: undefined })
    expect(result.url).to.match(/^postgres:/)
    expect(result.secret.length).to.be.at.least(32)
    expect(problems).to.have.length(6)
    expect(problems.every(({ code }) => code === 'MORTAR_ENV')).to.equal(true)
  })

  it('gets placeholders that the bricks of `mortar add` accept, so that a build needs no variables', async () => {
    process.env['FRAMEWORK_MODE'] = 'inspect'
    const saved = process.env['NODE_ENV']
    process.env['NODE_ENV'] = 'production'
    const required = { requiredInProduction: true } as const
    try {
      const { problems } = await collectProblems(async () => [
        redis({ url: env.string('REDIS_URL', { default: 'redis://localhost:6379', ...required }) }),
        metrics({ token: env.string('METRICS_TOKEN', { optional: true, ...required }) }),
      ])
      expect(problems.map(({ message }) => /[A-Z]+_[A-Z]+/.exec(message)![0])).to.have.members([
        'REDIS_URL',
        'METRICS_TOKEN',
      ])
    } finally {
      process.env['NODE_ENV'] = saved
    }
  })

  it('does not change how other variables are read, or variables in a process that serves', () => {
    expect(() => env.secret('TEST_NO_SECRET')).to.throw('TEST_NO_SECRET')
    process.env['FRAMEWORK_MODE'] = 'inspect'
    expect(() => env.from({}).secret('TEST_NO_SECRET')).to.throw('TEST_NO_SECRET')
  })
})
