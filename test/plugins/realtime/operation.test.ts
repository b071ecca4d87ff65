import { once } from 'node:events'
import { mock } from 'node:test'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, type App } from 'mortar'
import { createClient } from 'mortar/testing'
import { metrics } from '@mortar/metrics'
import { defineSocket, realtime } from '@mortar/realtime'
import { connect } from '@mortar/realtime/testing'
import { object, string } from 'mortar/yup'
import type { Sockets } from '../../../plugins/realtime/sockets.ts'
import { recorder } from '../../app/recorder.ts'
import { deferred } from '../../support/deferred.ts'
import { handshake, openRaw } from './raw-socket.ts'

const message = object({ text: string().required() })

describe('The operation of sockets', () => {
  let app: App
  let lines: string[]
  beforeEach(() => {
    lines = []
    const echo = defineSocket({ receive: message, send: message }, async (_ctx, socket) => {
      for await (const each of socket) {
        if (each.text === 'throw') throw new Error('The handler failed.')
        socket.send(each)
      }
    })
    const waiting = defineSocket({}, async (ctx) => {
      await new Promise((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error))
      })
    })
    const quiet = defineSocket({ logRequests: false }, () => undefined)
    app = createApp({ logger: recorder(lines), environment: 'test' })
      .use(metrics({ token: 'a-token-of-the-tests' }))
      .use(realtime())
      .use(createRouter().get('/echo', echo).get('/quiet', quiet).get('/waiting', waiting))
  })
  afterEach(() => app.close())

  /** The series of sockets with their values. */
  async function series(): Promise<Readonly<Record<string, number>>> {
    const { text } = await createClient(app).withToken('a-token-of-the-tests').get('/metrics')
    const found = text.matchAll(/^(realtime_\S+) (\d+)$/gm)
    return Object.fromEntries([...found].map(([, name, value]) => [name!, Number(value)]))
  }

  it('counts open sockets, messages by direction, and ends by code', async () => {
    const open = (): ReturnType<typeof connect> => connect(app, '/echo')
    const [one, two, three, four] = [await open(), await open(), await open(), await open()]
    for (const text of ['a', 'b']) one.send({ text })
    for (const text of ['a', 'b']) expect(await one.next()).to.deep.equal({ text })
    two.send({ text: 'throw' })
    await two.closed
    three.close(4777)
    four.close(4399)
    await Promise.all([three.closed, four.closed])
    while ((await series())['realtime_sockets'] !== 1);
    expect(await series()).to.deep.equal({
      realtime_sockets: 1,
      'realtime_messages_total{direction="received"}': 3,
      'realtime_messages_total{direction="sent"}': 2,
      'realtime_closed_total{code="1011"}': 1,
      // A client may send any code.
      'realtime_closed_total{code="other"}': 2,
    })
    one.close()
  })

  it('hands on the messages behind an invalid one that came while the handler was busy', async () => {
    const read = deferred()
    const busy = defineSocket({ receive: message, send: message }, async (_ctx, socket) => {
      await read.promise
      for await (const each of socket) socket.send(each)
    })
    const socket = await connect(app.use(createRouter().get('/busy', busy)), '/busy')
    for (const text of ['{', '{"text":"a"}', '{"text":"b"}']) socket.sendText(text)
    const { totals } = (app.services as unknown as { realtime: Sockets }).realtime
    for (const until = performance.now() + 4000; totals.received < 3 && performance.now() < until;)
      await nextTurn()
    read.resolve()
    expect(await socket.next()).to.have.property('problem')
    for (const text of ['a', 'b']) expect(await socket.next()).to.deep.equal({ text })
    socket.close()
  })

  it('sends nothing to a client for a message that it has already', async () => {
    const drains = defineSocket({ send: message }, async (_ctx, socket) => {
      await socket.drained()
      socket.send({ text: 'drained' })
    })
    const { url } = await app.use(createRouter().get('/drains', drains)).listen(0, '127.0.0.1')
    const client = openRaw(url, handshake('/drains'))
    await client.ended
    expect(client.text()).to.include('\r\n\r\n\x81\x12{"text":"drained"}\x88')
  })

  it('cuts a client off that does not confirm the end within five seconds', async () => {
    const { url } = await app.listen(0, '127.0.0.1')
    mock.timers.enable({ apis: ['setTimeout'] })
    const client = openRaw(url, handshake('/quiet'))
    client.socket.end = () => client.socket
    await client.until('\x88')
    const connection = once(client.socket, 'end')
    mock.timers.tick(5000)
    mock.reset()
    expect(await Promise.race([connection.then(() => 'cut off'), wait(2000, 'open')])).to.equal('cut off')
    client.socket.destroy()
  })

  it('reports no failure of a handler that throws the reason of its signal', async () => {
    const socket = await connect(app, '/waiting')
    await app.close()
    expect(await socket.closed).to.include({ code: 1001 })
    expect(lines.filter((line) => line.includes('socket.failed'))).to.deep.equal([])
  })

  it('writes one line for each end, and none for a route that is not logged', async () => {
    const [one, quiet] = [await connect(app, '/echo'), await connect(app, '/quiet')]
    one.send({ text: 'throw' })
    await Promise.all([one.closed, quiet.closed])
    await app.close()
    const ends = lines.filter((line) => line.includes('socket.closed'))
    expect(ends).to.have.length(1)
    expect(ends[0]).to.match(/^info .*"route":"\/echo","code":1011,"ms":\d+,"received":1,"sent":0/)
  })
})
