import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { mock } from 'node:test'
import { connect as connectSecurely } from 'node:tls'
import { expect } from 'chai'
import {
  createApp,
  createRouter,
  defineBrick,
  defineRoute,
  REQUEST_CHANNEL,
  scoped,
  type App,
  type DefinedRoute,
  type ObservedRequest,
} from 'mortar'
import { takeOver, type Takeover } from 'mortar/kit'
import { throughBothAdapters } from '../support/adapters.ts'
import { countKept } from '../support/collect-garbage.ts'
import { connectionsOf, leftConnections } from '../support/connections-of.ts'
import { deferred } from '../support/deferred.ts'

const TLS = join(import.meta.dirname, '../fixtures/tls')

/** A brick with a protocol of its own, which sends back what it receives. */
const shout = defineBrick({ name: 'shout', upgrades: ['shout'] })

function shoutRoute(takeover: Partial<Takeover> = {}): DefinedRoute {
  const begin: Takeover['begin'] = ({ socket, head, headers }, life) => {
    const own = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: shout\r\n${own}\r\n`)
    if (head.length > 0) socket.unshift(head)
    socket.on('data', (data: Buffer) => socket.write(String(data).toUpperCase()))
    socket.on('end', () => socket.end())
    socket.on('close', () => {
      life.closed()
      life.ended()
    })
  }
  return {
    ...defineRoute({}, (ctx) => takeOver(ctx, { begin, end: () => undefined, ...takeover })),
    upgrade: { protocol: 'shout' },
  }
}

const REQUEST = 'Host: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: other, shout\r\n\r\n'

async function exchange(url: string, text: string, until: string): Promise<string> {
  const socket: Socket = connect(Number(new URL(url).port), '127.0.0.1')
  let received = ''
  socket.write(text)
  for await (const chunk of socket) if ((received += String(chunk)).includes(until)) break
  socket.destroy()
  return received
}

describe('A connection that changes its protocol', () => {
  throughBothAdapters((open) => {
    const create = (route: DefinedRoute): App =>
      createApp({ logger: false, environment: 'test' })
        .use(shout)
        .use(
          createRouter()
            .get('/shout', route)
            .get('/large', () =>
              Readable.from([...Array.from({ length: 80 }, () => 'x'.repeat(100_000)), '!end!'], {
                objectMode: false,
              }),
            )
            .get('/', () => 'plain'),
        )

    it('belongs to its takeover, with the bytes behind the headers', async () => {
      const app = create(shoutRoute())
      app.use((ctx, next) => {
        ctx.set('X-Own', 'a')
        return next()
      })
      const { url } = await open(app)
      const received = await exchange(url, `GET /shout HTTP/1.1\r\n${REQUEST}hello`, 'HELLO')
      expect(received).to.match(/^HTTP\/1\.1 101 [^]*x-own: a[^]*HELLO$/)
    })

    it('is over for those who observe the request once the connection has the other protocol', async () => {
      const seen: unknown[] = []
      const note = (request: unknown): void => void seen.push((request as ObservedRequest).status)
      subscribe(`tracing:${REQUEST_CHANNEL}:asyncEnd`, note)
      const { url } = await open(create(shoutRoute()))
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write(`GET /shout HTTP/1.1\r\n${REQUEST}hello`)
      for (let received = ''; !received.includes('HELLO');)
        received += String((await once(socket, 'data'))[0])
      expect(seen).to.deep.equal([101])
      unsubscribe(`tracing:${REQUEST_CHANNEL}:asyncEnd`, note)
      socket.destroy()
    })

    it('is not ended again by the stop of the application', async () => {
      let ends = 0
      const over = deferred()
      const begin: Takeover['begin'] = ({ socket }, life) => {
        socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n')
        socket.resume().on('close', () => {
          life.ended()
          over.resolve()
        })
      }
      const app = create(shoutRoute({ begin, end: () => void ends++ }))
      const { url, close } = await open(app)
      await exchange(url, `GET /shout HTTP/1.1\r\n${REQUEST}`, '101')
      await over.promise
      await close()
      expect(ends).to.equal(0)
    })

    it('stays HTTP if the takeover refuses, or middleware responds instead', async () => {
      const refusing = create(
        shoutRoute({
          begin: () => {
            throw new TypeError('No.')
          },
        }),
      )
      const first = await open(refusing)
      expect(await exchange(first.url, `GET /shout HTTP/1.1\r\n${REQUEST}`, '}')).to.match(/^HTTP\/1\.1 500 /)
      const replaced = create(shoutRoute())
      replaced.use(async (_ctx, next) => {
        await next()
        return 'instead'
      })
      const second = await open(replaced)
      const received = await exchange(second.url, `GET /shout HTTP/1.1\r\n${REQUEST}`, 'instead')
      expect(received).to.match(/^HTTP\/1\.1 200 /)
    })

    it('stays HTTP for a request with a body, which another protocol would read as its own bytes', async () => {
      const { url } = await open(create(shoutRoute()))
      const request = `GET /shout HTTP/1.1\r\nContent-Length: 5\r\n${REQUEST}hello`
      expect(await exchange(url, request, '\r\n\r\n')).to.match(/^HTTP\/1\.1 426 /)
    })

    it('leaves nothing of its request behind, also if its signal was read before', async () => {
      const over = deferred()
      const begin: Takeover['begin'] = ({ socket }, life) => {
        socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n')
        socket.resume().on('close', () => {
          life.closed()
          life.ended()
          over.resolve()
        })
      }
      const signals: WeakRef<AbortSignal>[] = []
      const app = create(shoutRoute({ begin }))
      app.use((ctx, next) => {
        signals.push(new WeakRef(ctx.signal))
        return next()
      })
      const { url } = await open(app)
      await exchange(url, `GET /shout HTTP/1.1\r\n${REQUEST}`, '101')
      await over.promise
      expect([signals.length, await countKept(signals)]).to.deep.equal([1, 0])
    })

    it('keeps the scoped services of its request until its work has ended', async () => {
      const disposed: boolean[] = []
      const over = deferred()
      let isOver = false
      const begin: Takeover['begin'] = ({ socket }, life) => {
        socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n')
        socket.resume().on('close', () => {
          life.closed()
          setImmediate(() => {
            isOver = true
            life.ended()
          })
        })
      }
      const dispose = (): void => {
        disposed.push(isOver)
        over.resolve()
      }
      const app = create(shoutRoute({ begin })).provide({ own: scoped(() => ({}), { dispose }) })
      app.use(({ services }, next) => (services['own'] === undefined ? undefined : next()))
      const { url } = await open(app)
      await exchange(url, `GET /shout HTTP/1.1\r\n${REQUEST}`, '101')
      await over.promise
      expect(disposed).to.deep.equal([true])
    })

    it('changes its protocol although middleware has set the status of an ordinary response', async () => {
      const app = create(shoutRoute())
      app.use((ctx, next) => {
        ctx.status = 201
        return next()
      })
      const { url } = await open(app)
      const received = await exchange(url, `GET /shout HTTP/1.1\r\n${REQUEST}`, '\r\n\r\n')
      expect(received).to.match(/^HTTP\/1\.1 101 /)
    })

    it('is a plain request to any other route', async () => {
      const { url } = await open(create(shoutRoute()))
      const received = await exchange(url, `GET / HTTP/1.1\r\n${REQUEST}`, 'plain')
      expect(received).to.match(/^HTTP\/1\.1 200 [^]*Connection: close/)
      for (const [connection, expected] of [
        ['Upgrade', 'keep-alive'],
        ['close, Upgrade', 'close'],
      ]) {
        const foreign = `Host: localhost\r\nConnection: ${connection}\r\nUpgrade: other\r\n\r\n`
        const plain = await exchange(url, `GET / HTTP/1.1\r\n${foreign}`, 'plain')
        expect(plain).to.match(new RegExp(`^HTTP/1\\.1 200 [^]*Connection: ${expected}`))
      }
      const large = await exchange(url, `GET /large HTTP/1.1\r\n${REQUEST}`, '!end!')
      expect(large.length).to.be.above(8_000_000)
    })
  })

  it('is closed some time after it was refused, also if its client does not close its side', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const app = createApp({ logger: false }).use(shout)
    const { server, port } = await app.listen(0, '127.0.0.1')
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.write(`GET / HTTP/1.1\r\n${REQUEST}`)
    await once(socket.resume(), 'end')
    expect(await connectionsOf(server)).to.equal(1)
    mock.timers.tick(2000)
    mock.timers.reset()
    expect(await leftConnections(server)).to.equal(0)
    socket.destroy()
    await app.close()
  })

  it('is closed with its client after it was refused, whatever the client has sent ahead', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const app = createApp({ logger: false }).use(shout)
    const { server, port } = await app.listen(0, '127.0.0.1')
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET / HTTP/1.1\r\n${REQUEST}${'x'.repeat(1_000_000)}`)
    await once(socket.resume(), 'end')
    const left = await leftConnections(server)
    mock.timers.reset()
    expect(left).to.equal(0)
    socket.destroy()
    await app.close()
  })

  it('is cut off by the stop if it is silent after it was asked to end', async () => {
    // A deadline that outlasts the test.
    const app = createApp({ logger: false, shutdownTimeout: '1h' }).use(shout)
    const { port } = await app.use(createRouter().get('/shout', shoutRoute())).listen(0, '127.0.0.1')
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET /shout HTTP/1.1\r\n${REQUEST}`)
    await once(socket, 'data')
    const closed = once(socket, 'close')
    await app.close()
    await closed
  })

  it('is a plain request over TLS too if no brick speaks its protocol', async () => {
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(TLS, name)))
    const app = createApp({ logger: false }).use(shout)
    app.use(createRouter().get('/', ({ koa }) => ({ secure: koa.secure })))
    const { port } = await app.listen({ port: 0, host: '127.0.0.1', tls: { key: key!, cert: cert! } })
    const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false })
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close, Upgrade\r\nUpgrade: other\r\n\r\n')
    let received = ''
    for await (const chunk of socket) received += String(chunk)
    expect(received).to.match(/^HTTP\/1\.1 200 [^]*\{"secure":true\}$/)
    await app.close()
  })

  it('leaves no listeners on a connection whose requests ask for foreign protocols', async () => {
    const app = createApp({ logger: false }).use(shout)
    const { server, port } = await app.use(createRouter().get('/', () => 'plain')).listen(0, '127.0.0.1')
    const accepted = once(server, 'connection') as Promise<[Socket]>
    const socket = connect(port, '127.0.0.1')
    const [connection] = await accepted
    const counts: number[] = []
    for (let index = 0; index < 3; index++) {
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n')
      for (let received = ''; !received.endsWith('plain');)
        received += String((await once(socket, 'data'))[0])
      const names = connection.eventNames()
      counts.push(names.reduce((sum, name) => sum + connection.listenerCount(name), 0))
    }
    expect(counts[2]).to.equal(counts[1])
    socket.destroy()
    await app.close()
  })

  it('leaves foreign protocols to another listener of the server', async () => {
    const app = createApp({ logger: false }).use(shout)
    await app.ready()
    const server = createServer(app.koa.callback())
    app.upgrade(server)
    server.on('upgrade', (req, socket: Socket) => {
      if (req.headers.upgrade === 'foreign') socket.end('HTTP/1.1 101 Foreign\r\n\r\n')
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const head = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: foreign\r\n\r\n'
    expect(await exchange(url, head, 'Foreign')).to.include('101 Foreign')
    server.close()
    await app.close()
  })

  it('does not exist without a brick that speaks the protocol', async () => {
    const app = createApp({ logger: false }).use(createRouter().get('/', () => 'plain'))
    const { url, server } = await app.listen(0, '127.0.0.1')
    expect(server.listenerCount('upgrade')).to.equal(0)
    expect(await exchange(url, `GET / HTTP/1.1\r\n${REQUEST}`, 'plain')).to.match(/^HTTP\/1\.1 200 /)
    await app.close()
  })
})
