import { once } from 'node:events'
import { connect } from 'node:net'
import { getHeapSpaceStatistics } from 'node:v8'
import { expect } from 'chai'
import {
  createApp,
  createRouter,
  defineBrick,
  fromKoa,
  scoped,
  value,
  type App,
  type Authenticator,
} from 'mortar'
import { ignore } from '../../src/support/ignore.ts'
import { collectGarbage } from '../support/collect-garbage.ts'

const REQUESTS = 500

/** Bytes in the part of the heap that only a full collection cleans. */
function oldBytes(): number {
  // What is alive after two minor collections counts as old.
  collectGarbage({ type: 'minor' })
  collectGarbage({ type: 'minor' })
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => !space_name.startsWith('new_') && !space_name.includes('code'))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0)
}

const authenticator = {
  name: 'one',
  policies: {},
  identify: () => ({ id: '1', raw: {} }),
} as unknown as Authenticator

const guard = defineBrick({ name: 'guard', services: { authenticator: value(authenticator) } })

const APPS: Readonly<Record<string, () => App>> = {
  'a route': () => createApp().use(createRouter().get('/', () => ({ hello: 'world' }))),
  'a guarded route': () =>
    createApp({ bricks: [guard] }).use(createRouter().get('/', { auth: true }, ({ user }) => user.id)),
  'a scoped service': () =>
    createApp()
      .provide({ path: scoped(({ ctx }) => ctx.path) })
      .use(createRouter().get('/', ({ services }) => services['path'])),
  'a scoped service with a disposer': () =>
    createApp()
      .provide({ path: scoped(({ ctx }) => ({ is: ctx.path }), { dispose: ignore }) })
      .use(createRouter().get('/', ({ services }) => services['path'])),
  'Koa middleware': () =>
    createApp()
      .use(fromKoa((_, next) => next()))
      .use(createRouter().get('/', () => 'hello')),
}

describe('What a request leaves behind', () => {
  for (const [name, open] of Object.entries(APPS))
    it(`is garbage-collected by minor collections alone: ${name}`, async () => {
      const app = open()
      const { port } = await app.listen(0, '127.0.0.1')
      const socket = connect(port, '127.0.0.1')
      const run = async (count: number): Promise<void> => {
        for (let index = 0; index < count; index++) {
          socket.write('GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n\r\n')
          const [answer] = (await once(socket, 'data')) as [Buffer]
          if (!answer.includes(' 200 OK')) throw new Error(answer.toString())
        }
      }
      const growth = async (): Promise<number> => {
        collectGarbage()
        const before = oldBytes()
        await run(REQUESTS)
        return (oldBytes() - before) / REQUESTS
      }
      await run(REQUESTS)
      // Now and then the engine's compiler adds to one round; what requests leave behind is in each.
      let each = await growth()
      for (let more = 0; more < 3 && each >= 1000; more++) each = await growth()
      expect(each, 'bytes a request').to.be.below(1000)
      socket.destroy()
      await app.close()
    })
})
