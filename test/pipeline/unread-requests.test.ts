import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, scoped, sse, type Context } from 'mortar'
import { number, object, string } from 'yup'
import { throughBothAdapters } from '../support/adapters.ts'
import { connectionsOf, leftConnections } from '../support/connections-of.ts'

/** Everything that a connection is sent until `count` responses have come. */
async function answersTo(url: string, text: string, count: number): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
  socket.write(text)
  while (received.split('HTTP/1.1 ').length <= count) await once(socket, 'data')
  socket.destroy()
  return received
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

describe('A request that is not read to its end', () => {
  throughBothAdapters((open) => {
    const router = () =>
      createRouter()
        .get('/:n', ({ params }) => params['n'])
        .post('/:n', { consumes: [] }, () => 'unread')

    it('is followed by the next ones on the same connection', async () => {
      const { url } = await open(createApp().use(router()))
      const received = await answersTo(url, get('/one') + get('/two') + get('/three'), 3)
      expect(received).to.match(/one[^]*two[^]*three$/)
    })

    it('is followed by dozens without a listener for each on the connection', async () => {
      let most = 0
      const app = createApp({ logger: false })
        .provide({ disposed: scoped(() => ({}), { dispose: () => undefined }) })
        .use(async ({ koa, scope }, next) => {
          scope.resolve('disposed')
          most = Math.max(most, koa.req.socket.listenerCount('close'))
          return next()
        })
        .use(router())
      const { url } = await open(app)
      await answersTo(url, get('/one').repeat(40), 40)
      expect(most).to.be.at.most(10)
    })

    it('does not leave its body in front of the next one', async () => {
      const { url } = await open(createApp().use(router()))
      const long = 'x'.repeat(2_000_000)
      const withBody = (method: string) =>
        `${method} /first HTTP/1.1\r\nHost: x\r\nContent-Length: ${long.length}\r\n\r\n${long}`
      for (const method of ['GET', 'POST'])
        expect(await answersTo(url, withBody(method) + get('/second'), 2)).to.match(/second$/)
    })

    const payloads: Readonly<Record<string, (ctx: Context) => unknown>> = {
      text: () => 'text',
      bytes: () => Buffer.from('bytes'),
      nothing: () => undefined,
      'a stream': () => Readable.from(['stream']),
      'an event': (ctx) => sse(ctx, ['event']),
    }
    for (const [kind, make] of Object.entries(payloads))
      it(`emits end if its body was read as a whole and the response is ${kind}`, async () => {
        const ends: Promise<unknown>[] = []
        const handler = (ctx: Context): unknown => {
          ends.push(once(ctx.koa.req, 'end'))
          return make(ctx)
        }
        const posts = createRouter().post('/', { body: object({ n: number() }) }, handler)
        const { url } = await open(createApp({ logger: false }).use(posts))
        const post = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"n":1}`
        await answersTo(url, post + post, 2)
        expect(await Promise.all(ends)).to.have.length(2)
      })

    it('emits end and close', async () => {
      const heard: Promise<unknown>[] = []
      const listening = createRouter().get('/', ({ koa }) => {
        heard.push(once(koa.req.resume(), 'end'), once(koa.req, 'close'))
        return 'listening'
      })
      const { fetch } = await open(createApp().use(listening))
      expect(await (await fetch('/')).text()).to.equal('listening')
      expect(await Promise.all(heard)).to.have.length(2)
    })

    it('emits close to a listener of close alone', async () => {
      const closed: Promise<unknown>[] = []
      const listening = createRouter().get('/', ({ koa }) => {
        closed.push(once(koa.req, 'close'))
        return 'listening'
      })
      const { fetch } = await open(createApp().use(listening))
      expect(await (await fetch('/')).text()).to.equal('listening')
      expect(await Promise.all(closed)).to.have.length(1)
    })
  })
})

describe('A refused request whose body was read as a whole', () => {
  it('gets neither a timer nor listeners for an unread rest', async () => {
    const requests: IncomingMessage[] = []
    const capture = (message: unknown): void => {
      requests.push((message as { readonly request: IncomingMessage }).request)
    }
    const router = createRouter().post('/', { body: object({ name: string().required() }) }, () => 'valid')
    const app = createApp().use(router)
    subscribe('http.server.request.start', capture)
    try {
      const { url } = await app.listen(0)
      const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n'
      expect(await answersTo(url, `${head}{}`, 1)).to.contain('422')
      expect(requests.map((request) => request.listenerCount('error'))).to.deep.equal([0])
    } finally {
      unsubscribe('http.server.request.start', capture)
      await app.close()
    }
  })
})

describe('A body that is too large', () => {
  it('is read on for two seconds after its refusal, and then its connection is closed', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const router = createRouter().post('/', { bodyLimit: 10 }, () => 'read')
    const app = createApp({ logger: false, handlerTimeout: 0 }).use(router)
    const { server, port } = await app.listen(0, '127.0.0.1')
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    socket.write(
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{',
    )
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).to.match(/^HTTP\/1\.1 413 /)
    mock.timers.tick(1999)
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    expect(await connectionsOf(server)).to.equal(1)
    mock.timers.tick(1)
    mock.timers.reset()
    expect(await leftConnections(server)).to.equal(0)
    socket.destroy()
    await app.close()
  })
})
