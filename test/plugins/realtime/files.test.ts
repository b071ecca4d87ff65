import { expect } from 'chai'
import { createApp, createRouter, registerModules, type App, type StartupErrors } from 'mortar'
import { defineSocket, realtime } from '@mortar/realtime'
import { connect } from '@mortar/realtime/testing'
import { number, object } from 'mortar/yup'
import { planRoutes } from '../../../src/files/plan-routes.ts'

const create = () => createApp({ logger: false, environment: 'test' }).use(realtime()) as unknown as App

const room = defineSocket(
  { params: object({ id: number().required() }), send: object({ room: number() }) },
  ({ params }, socket) => socket.send({ room: params.id }),
)

describe('A file of a socket route', () => {
  it('is the path of its name', async () => {
    const app = create()
    registerModules(app, '/srv/routes', { 'rooms/[id].ws.ts': { default: room } })
    const socket = await connect<typeof room>(app, '/rooms/7')
    expect(await socket.next()).to.deep.equal({ room: 7 })
    await socket.closed
    await app.close()
  })

  it('is one endpoint with a file for GET', () => {
    const { problems } = planRoutes(['rooms/index.get.ts', 'rooms/index.ws.ts'])
    expect(problems.map(({ code }) => code)).to.deep.equal(['MORTAR_ROUTE_DUPLICATE'])
  })

  it('must export a socket, with keys that exist', () => {
    const socketWith = (definition: object) => defineSocket(definition as never, () => undefined)
    const modules = {
      'a.ws.ts': { default: () => 'a plain handler' },
      'b.ws.ts': { default: socketWith({ body: object() }) },
      'c.ws.ts': { default: socketWith({ recieve: object() }) },
      'd.ws.ts': { default: socketWith({ auth: undefined }) },
    }
    const errors = thrown(() => registerModules(create(), '/srv/routes', modules)) as StartupErrors
    expect(errors.errors.map(({ code, files }) => [files[0], code])).to.deep.equal([
      ['a.ws.ts', 'MORTAR_ROUTE_PROTOCOL'],
      ['b.ws.ts', 'MORTAR_ROUTE_BODY_NOT_ALLOWED'],
      ['c.ws.ts', 'MORTAR_ROUTE_KEY'],
      ['d.ws.ts', 'MORTAR_ROUTE_AUTH_SHAPE'],
    ])
  })

  it('needs the brick', async () => {
    const app = createApp({ logger: false }).use(createRouter().get('/rooms/:id', room))
    const error = await app.ready().then(undefined, (cause: unknown) => cause)
    expect(error).to.include({ code: 'MORTAR_UPGRADE_MISSING' })
  })
})

describe('The options of sockets', () => {
  const wrong: Readonly<Record<string, object>> = {
    'an unknown option': { origin: ['https://a.example'] },
    'an origin with another scheme': { origins: ['wss://a.example'] },
    'an origin with a wildcard': { origins: ['https://*.a.example'] },
    'no socket at all': { sockets: 0 },
    'half a message a second': { messageRate: 0.5 },
    'a size without a number': { maxMessage: 'big' },
    'no time for a ping': { ping: 0 },
    'another treatment of invalid messages': { invalid: 'ignore' },
  }
  for (const [name, options] of Object.entries(wrong))
    it(`are refused with ${name}`, () => {
      expect(thrown(() => realtime(options))).to.include({ code: 'MORTAR_REALTIME_OPTION' })
    })

  it('are refused in a route too', () => {
    expect(thrown(() => defineSocket({ maxMessage: '1 mile' }, () => undefined))).to.include({
      code: 'MORTAR_REALTIME_OPTION',
    })
  })

  it('of a route precede those of the application', async () => {
    const app = create().use(
      createRouter().get(
        '/',
        defineSocket({ receive: object({ text: object() }), maxMessage: 10 }, async (_ctx, socket) => {
          for await (const _message of socket) socket.close()
        }),
      ),
    )
    const socket = await connect(app, '/')
    socket.sendText('{"text":"longer"}')
    expect((await socket.closed).code).to.equal(1009)
    await app.close()
  })
})

function thrown(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}
