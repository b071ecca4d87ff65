import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter } from 'mortar'
import { defineSocket, realtime } from '@mortar/realtime'
import { connect } from '@mortar/realtime/testing'
import { object, string } from 'mortar/yup'
import { collectGarbage } from '../../support/collect-garbage.ts'

const message = object({ ask: string().required() })

describe('An open socket', () => {
  it('keeps what its handler can read, and neither request nor response of Node', async () => {
    const refs: WeakRef<object>[] = []
    const route = defineSocket(
      { receive: message, headers: object({ 'x-own': string().required() }) },
      async (ctx, socket) => {
        for await (const { ask } of socket)
          socket.send(
            ask === 'set'
              ? { set: errorOf(() => ctx.set('X-Late', 'a')) }
              : {
                  own: [ctx.get('X-Own'), ctx.headers['x-own'], ctx.get('none')],
                  ip: ctx.ip,
                  cookie: ctx.cookies.get('flavour'),
                  koa: [ctx.koa.path, ctx.koa.get('X-Own')],
                  aborted: ctx.signal.aborted,
                },
          )
      },
    )
    const app = createApp({ logger: false, environment: 'test' })
      .use(realtime())
      .use(createRouter().get('/room', route))
    const { server } = await app.listen(0, '127.0.0.1')
    server.on('request', (req, res) => void refs.push(new WeakRef(req), new WeakRef(res)))
    const socket = await connect(app, '/room?a=1', { headers: { 'x-own': 'mine', cookie: 'flavour=salt' } })
    expect(refs).to.have.length(2)
    for (let turn = 0; turn < 50 && refs.some((ref) => ref.deref() !== undefined); turn++) {
      await wait(10)
      collectGarbage()
    }
    expect(refs.map((ref) => ref.deref())).to.deep.equal([undefined, undefined])
    socket.send({ ask: 'set' })
    expect(await socket.next()).to.deep.equal({
      set: 'The response is sent, and the connection has another protocol.',
    })
    socket.send({ ask: 'all' })
    expect(await socket.next()).to.deep.equal({
      own: ['mine', 'mine', null],
      ip: '127.0.0.1',
      cookie: 'salt',
      koa: ['/room', 'mine'],
      aborted: false,
    })
    socket.close()
    await socket.closed
    await app.close()
  })
})

function errorOf(act: () => void): string {
  try {
    act()
    return 'none'
  } catch (error) {
    return (error as Error).message
  }
}
