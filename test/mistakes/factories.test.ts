import { asFunction } from 'awilix'
import { expect } from 'chai'
import { createApp, createRouter, defineBrick, scoped, singleton, value } from 'mortar'
import { startupErrorOf } from '../support/startup-error-of.ts'

describe('A factory of another container', () => {
  class Notes {
    readonly list = []
  }
  for (const [name, factory, found, remedy] of [
    ['a class', Notes, 'has the class Notes in place of a factory', 'scoped(({ … }) => new Notes(…))'],
    [
      'a list of parameters',
      (_db: unknown, _mailer: unknown) => 1,
      'has a factory with 2 parameters, but it gets one object with all services',
      'scoped(({ db, logger }) => …)',
    ],
  ] as const)
    it(`is named at the start: ${name}`, async () => {
      const error = await startupErrorOf(() =>
        createApp({ logger: false })
          .provide({ notes: scoped(factory as never) })
          .ready(),
      )
      expect(error.found).to.equal(`app.provide: the service 'notes' ${found}.`)
      expect(error.remedy).to.include(remedy)
    })
})

describe('An asynchronous factory', () => {
  const withTenant = () =>
    createApp({ logger: false })
      .provide({
        tenant: scoped(async ({ requestId }) => ({ detail: await Promise.resolve(`request ${requestId}`) })),
      })
      .use(createRouter().get('/', async (ctx) => ctx.services['tenant']))
  const detailOf = async (app: ReturnType<typeof withTenant>): Promise<unknown> =>
    (await app.inject({ method: 'GET', url: '/', headers: { 'x-request-id': 'r1' } })).json().detail

  it('is named at the start if it is the factory of a singleton, also if its promise is rejected', async () => {
    const client = { query: () => 1 }
    const failing = async (): Promise<typeof client> => {
      throw new Error('no connection')
    }
    for (const registration of [
      singleton(async () => client),
      singleton(failing),
      asFunction(failing).singleton(),
    ]) {
      const brick = defineBrick({ name: 'search', services: { client: registration } })
      const error = await startupErrorOf(() => createApp({ logger: false, bricks: [brick] }).ready())
      expect(error.code).to.equal('MORTAR_SERVICE_PROMISE')
      expect(error.found).to.equal(
        `The singleton 'client' of brick 'search' is a promise: its factory is asynchronous.`,
      )
      expect(error.remedy).to.match(/`start` of a brick, or await it before: client: value\(await …\)\.$/)
    }
  })

  it('may make a scoped service, which the handler awaits', async () => {
    const app = withTenant()
    expect(await detailOf(app)).to.equal('request r1')
    await app.close()
  })

  it('may be replaced by a promise', async () => {
    const app = withTenant().override({ tenant: value(Promise.resolve({ detail: 'fake' })) })
    expect(await detailOf(app)).to.equal('fake')
    await app.close()
  })
})
