import { expect } from 'chai'
import { createApp, createRouter, fromKoa, type AnyBrick } from 'mortar'
import { startupErrorOf } from '../support/startup-error-of.ts'

const boot = (brick: object) =>
  createApp({ logger: false })
    .use({ name: 'odd', ...brick } as AnyBrick)
    .ready()

describe('A value of a wrong type', () => {
  const shapes: readonly (readonly [string, object, string])[] = [
    ['an unknown slot', { onStart: () => undefined }, "Did you mean 'start'?"],
    ['a mistyped slot', { service: {} }, "Did you mean 'services'?"],
    ['a start that is not a function', { start: 5 }, 'Give start a function.'],
    ['a stop that is not a function', { stop: {} }, 'Give stop a function.'],
    ['a middleware that is not a function', { middleware: [5] }, 'Give functions (ctx, next).'],
    ['a function that returns no middleware', { middleware: () => [5] }, 'Give functions (ctx, next).'],
    ['a member that is not a function', { members: { now: 5 } }, '(services, ctx) => value'],
    ['a router outside a list', { routes: createRouter() }, 'Give routes a list'],
    ['routes that are not routers', { routes: [{}] }, 'createRouter()'],
    ['routes that come to no routers', { routes: () => undefined }, 'createRouter()'],
  ]
  for (const [name, brick, remedy] of shapes)
    it(`is rejected in a brick at the start: ${name}`, async () => {
      const error = await startupErrorOf(() => boot(brick))
      expect(error.code).to.equal('MORTAR_BRICK_SHAPE')
      expect(error.message).to.contain("'odd'").and.to.contain(remedy)
    })

  it('is rejected as a service, both from a brick and from the application', async () => {
    const bare = { clock2: (() => 5) as never }
    const app = () => createApp({ logger: false })
    for (const work of [
      () => boot({ services: bare }),
      () => app().provide(bare).ready(),
      () =>
        app()
          .override({ logger: null as never })
          .ready(),
    ])
      expect((await startupErrorOf(work)).code).to.equal('MORTAR_SERVICE_SHAPE')
  })

  it('is rejected by use() and fromKoa()', async () => {
    for (const item of [undefined, null, 5, {}] as never[])
      for (const work of [() => createRouter().use(item), () => createApp().use(item), () => fromKoa(item)])
        expect((await startupErrorOf(work)).code).to.equal('MORTAR_USE')
  })
})
