/**
 * Opens a socket in a process of its own, as what other tests leave in a process can keep the request. With the argument
 * `traced` an SDK of OpenTelemetry exports its span, and with `logged` its request is logged. Prints which
 * of request and response remain, and two replies of the handler, as JSON.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { createApp, createRouter } from 'mortar'
import { defineSocket, realtime } from '@mortar/realtime'
import { connect } from '@mortar/realtime/testing'
import { tracing } from '@mortar/tracing'
import { object, string } from 'mortar/yup'
import { recorder } from '../../app/recorder.ts'
import { collectGarbage } from '../../support/collect-garbage.ts'

const refs: WeakRef<object>[] = []
const route = defineSocket(
  {
    receive: object({ ask: string().required() }),
    headers: object({ 'x-own': string().required() }),
  },
  async (ctx, socket) => {
    for await (const { ask } of socket)
      socket.send(
        ask === 'set'
          ? { set: errorOf(() => ctx.set('X-Late', 'a')) }
          : {
              own: [ctx.get('X-Own'), ctx.headers['x-own'], ctx.get('none'), ctx.get('Sec-WebSocket-Key')],
              ip: ctx.ip,
              cookie: ctx.cookies.get('flavour'),
              koa: [ctx.koa.path, ctx.koa.get('X-Own')],
              aborted: ctx.signal.aborted,
            },
      )
  },
)
const isTraced = process.argv[2] === 'traced'
if (isTraced) new NodeTracerProvider().register()
const logger = recorder([])
const app = createApp({ logger, logRequests: process.argv[2] === 'logged', environment: 'test' })
  .use(realtime())
  .use(createRouter().get('/room', route))
if (isTraced) app.use(tracing())
const { server } = await app.listen(0, '127.0.0.1')
server.on('request', (req, res) => void refs.push(new WeakRef(req), new WeakRef(res)))
const socket = await connect(app, '/room?a=1', { headers: { 'x-own': 'mine', cookie: 'flavour=salt' } })
for (let turn = 0; turn < 50 && refs.some((ref) => ref.deref() !== undefined); turn++) {
  await wait(10)
  collectGarbage()
}
const kept = refs.map((ref) => ref.deref()?.constructor.name ?? null)
socket.send({ ask: 'set' })
const set = await socket.next()
socket.send({ ask: 'all' })
const all = await socket.next()
console.log(JSON.stringify([kept, set, all]))
socket.close()
await socket.closed
await app.close()

function errorOf(act: () => void): string {
  try {
    act()
    return 'none'
  } catch (error) {
    return (error as Error).message
  }
}
