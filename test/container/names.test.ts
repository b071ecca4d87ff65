import { inspect } from 'node:util'
import { asClass, asFunction, createContainer } from 'awilix'
import { expect } from 'chai'
import { createApp, createRouter, defineBrick, scoped, StartupError, value } from 'mortar'

class Repo {
  readonly rows: readonly string[] = []
}

describe('The container', () => {
  it('refuses a symbol as a name wherever services are registered', () => {
    const services = { [Symbol('s')]: value(1) }
    expect(() => createApp({ logger: false }).provide(services)).to.throw(
      StartupError,
      'app.provide: the name Symbol(s)',
    )
    expect(() => createApp({ logger: false }).override(services)).to.throw(StartupError, 'Symbol(s)')
  })

  it('refuses a name that the application has provided before', () => {
    const app = createApp({ logger: false }).provide({ clock: value(1) })
    for (const registrations of [{ clock: value(2) }, { other: value(3), clock: value(2) }])
      expect(() => app.provide(registrations)).to.throw(StartupError, 'MORTAR_SERVICE_DUPLICATE')
  })

  it('refuses a symbol as a name in a brick, at the start', async () => {
    const brick = defineBrick({ name: 'b', services: { [Symbol('s')]: value(1) } })
    const app = createApp({ logger: false }).use(brick)
    const message = await app.ready().catch((error: Error) => error.message)
    expect(message).to.contain("The brick 'b': the name Symbol(s)")
  })

  it('has no name that JavaScript itself looks for, so the services of a request can be awaited and printed', async () => {
    const app = createApp({ logger: false })
      .provide({ repo: scoped(() => new Repo()) })
      .use(
        createRouter().get('/', async ({ services }) => [
          (await Promise.resolve(services)) === services,
          JSON.stringify({ services }),
          inspect({ services }).includes('services:'),
        ]),
      )
    expect((await app.inject('/')).json()).to.deep.equal([true, '{"services":{}}', true])
    await app.close()
  })

  it('says that it searches no files, and takes the registrations of a container that does', async () => {
    const app = createApp({ logger: false })
    // @ts-expect-error the type has no loadModules
    expect(() => app.container.loadModules(['*.ts']) as unknown).to.throw(StartupError, 'app.provide')
    const own = createContainer().register({ repo: asClass(Repo).singleton() })
    app.provide({ repo: asFunction(() => own.resolve('repo') as unknown).singleton() })
    await app.ready()
    expect((app.services as { repo?: unknown }).repo).to.equal(own.resolve('repo'))
    await app.close()
  })
})
