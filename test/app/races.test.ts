import { EventEmitter, once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, defineBrick, StartupError } from 'mortar'
import { deferred } from '../support/deferred.ts'
import { recorder } from './recorder.ts'

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error instanceof StartupError ? error.code : error),
  )

const slowBrick = (gate: Promise<void>, log: string[] = []) =>
  defineBrick({
    name: 'slow',
    start: async () => {
      await gate
      log.push('started')
    },
    stop: () => void log.push('stopped'),
  })

describe('An application with concurrent calls of listen() and close()', () => {
  it('listens once', async () => {
    const app = createApp()
    const codes = await Promise.all([codeOf(app.listen(0, '127.0.0.1')), codeOf(app.listen(0, '127.0.0.1'))])
    expect(codes).to.have.members(['no error', 'MORTAR_LISTENING'])
    expect(await codeOf(app.listen(0, '127.0.0.1'))).to.equal('MORTAR_LISTENING')
    await app.close()
  })

  it('finishes booting before it closes when close() is called during boot, and does not listen', async () => {
    const gate = deferred()
    const log: string[] = []
    const app = createApp({ bricks: [slowBrick(gate.promise, log)] })
    const listening = codeOf(app.listen(0, '127.0.0.1'))
    const ready = codeOf(app.ready())
    await wait(1)
    const closing = Promise.all([app.close(), app.close()])
    gate.resolve()
    await closing
    expect(await listening).to.equal('MORTAR_CLOSED')
    expect(await ready).to.equal('MORTAR_CLOSED')
    expect(log).to.deep.equal(['started', 'stopped'])
  })

  it('closes although the start of a brick hangs, and stops that brick if it starts later', async () => {
    const gate = deferred()
    const log: string[] = []
    const app = createApp({
      bricks: [
        slowBrick(gate.promise, log),
        defineBrick({ name: 'z', start: () => void log.push('z started') }),
      ],
      shutdownTimeout: 0.02,
    })
    const ready = codeOf(app.ready())
    await wait(1)
    await app.close()
    expect(log).to.deep.equal([])
    gate.resolve()
    expect(await ready).to.equal('MORTAR_CLOSED')
    expect(log).to.deep.equal(['started', 'stopped'])
  })

  it('begins no work in the background after close()', async () => {
    const gate = deferred()
    const begun = deferred()
    const log: string[] = []
    const app = createApp({
      bricks: [
        defineBrick({
          name: 'a',
          work: () => {
            begun.resolve()
            return gate.promise
          },
        }),
        defineBrick({ name: 'z', work: () => void log.push('z works') }),
      ],
      shutdownTimeout: 0.02,
    })
    const ready = codeOf(app.ready())
    await begun.promise
    await app.close()
    gate.resolve()
    await ready
    expect(log).to.deep.equal([])
  })

  it('leaves no server open when close() is called during listen()', async () => {
    for (let turns = 0; turns < 6; turns++) {
      const app = createApp()
      await app.ready()
      const listening = codeOf(app.listen(0, '127.0.0.1'))
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      await app.close()
      expect(await listening).to.be.oneOf(['no error', 'MORTAR_CLOSED'])
    }
  })

  it('rejects with the same error each time after a failed start', async () => {
    const app = createApp({ bricks: [defineBrick({ name: 'a', requires: ['nothing'] })] })
    expect(await codeOf(app.ready())).to.equal('MORTAR_BRICK_MISSING')
    expect(await codeOf(app.listen(0))).to.equal('MORTAR_BRICK_MISSING')
    expect(await codeOf(app.inject('/'))).to.equal('MORTAR_BRICK_MISSING')
    await app.close()
  })

  it('rejects an invalid port', async () => {
    for (const port of [-1, 65_536, 1.5, Number.NaN])
      expect(await codeOf(createApp().listen(port)), String(port)).to.equal('MORTAR_LISTEN')
  })
})

describe('An application that closes', () => {
  it('completes the requests of 200 keep-alive clients', async () => {
    const app = createApp().use(
      createRouter().get('/', async () => {
        await wait(100)
        return 'done'
      }),
    )
    const { port } = await app.listen(0, '127.0.0.1')
    const state = { closing: false, served: 0 }
    const allServed = deferred()
    const agents: Agent[] = []
    const clients = Array.from({ length: 200 }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      agents.push(agent)
      const answers: string[] = []
      while (!state.closing) {
        answers.push(await ask(port, agent))
        // A client that has not connected when the application closes is refused, and rightly so.
        if (answers.length === 1 && ++state.served === 200) allServed.resolve()
      }
      return answers
    })
    await Promise.race([allServed.promise, Promise.all(clients)])
    const done = app.close()
    state.closing = true
    const answers = (await Promise.all(clients)).flat()
    await done
    for (const agent of agents) agent.destroy()
    expect(answers.length).to.be.greaterThan(200)
    expect(new Set(answers)).to.deep.equal(new Set(['done']))
  })

  it('does not wait for idle connections', async () => {
    // A wait for them would be longer than the time limit of the test.
    const app = createApp({ shutdownTimeout: '1h', server: { keepAliveTimeout: '1h' } }).use(
      createRouter().get('/', () => 'hello'),
    )
    const { port } = await app.listen(0, '127.0.0.1')
    const sockets = ['', 'GET / HT', '\0\0\r\n\r\n', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'].map((bytes) => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      socket.on('error', () => undefined)
      socket.write(bytes)
      return socket
    })
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    await once(sockets.at(-1)!, 'data')
    await app.close()
    for (const socket of sockets) socket.destroy()
  })

  it('ends a connection after its response, which began before, is complete', async () => {
    const gate = deferred()
    const app = createApp({ shutdownTimeout: '1h', server: { keepAliveTimeout: '1h' } }).use(
      createRouter().get('/', () => parts(gate.promise)),
    )
    const { url } = await app.listen(0, '127.0.0.1')
    const response = await fetch(url)
    const closing = app.close()
    gate.resolve()
    expect(await response.text()).to.equal('one two')
    await closing
  })

  it('waits for requests through Koa and inject, and responds with 503 to later requests through Koa', async () => {
    const gates = [deferred(), deferred()]
    const arrivals = [deferred(), deferred()]
    const log: string[] = []
    const app = createApp({ logger: false, bricks: [slowBrick(Promise.resolve(), log)] }).use(
      createRouter().get('/:index', async ({ params }) => {
        arrivals[Number(params.index)]!.resolve()
        await gates[Number(params.index)]!.promise
        return [...log]
      }),
    )
    const server = createServer(app.koa.callback())
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const asked = fetch(`${url}/0`)
    const injected = app.inject('/1')
    await Promise.all(arrivals.map(({ promise }) => promise))
    const closing = app.close()
    const late = await fetch(`${url}/1`)
    expect([late.status, late.headers.get('content-type')]).to.deep.equal([503, 'application/problem+json'])
    // The one that ends last keeps the brick alone.
    gates[1]!.resolve()
    expect((await injected).json()).to.deep.equal(['started'])
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    gates[0]!.resolve()
    const first = await asked
    expect(await first.json()).to.deep.equal(['started'])
    expect(first.headers.get('connection')).to.equal('close')
    await closing
    expect(log).to.deep.equal(['started', 'stopped'])
    server.closeAllConnections()
    server.close()
  })
})

describe('ctx.signal', () => {
  it('does not abort when its response is complete and the connection ends', async () => {
    const signals: AbortSignal[] = []
    const app = createApp().use(createRouter().get('/', ({ signal }) => signals.push(signal)))
    const { url, server } = await app.listen(0, '127.0.0.1')
    const closed = once(server, 'connection').then(async ([socket]) => once(socket as Socket, 'close'))
    await (await fetch(url, { headers: { connection: 'close' } })).text()
    await closed
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false])
    await app.close()
  })

  it('does not abort when its response is complete before its turn in the stop of the application', async () => {
    // In one turn of the event loop, 64 signals abort.
    const waiting = 64
    const aborted = new Set<number>()
    const first = deferred()
    const app = createApp({ logger: false }).use(
      createRouter().get('/:index', ({ signal, params }) => {
        signal.addEventListener('abort', () => aborted.add(Number(params.index)))
        if (Number(params.index) === waiting) return first.promise
        return once(signal, 'abort').then(() => first.resolve())
      }),
    )
    const responses = Array.from({ length: waiting + 1 }, (_, index) => app.inject(`/${index}`))
    for (let turn = 0; turn < 9; turn++) await nextTurn()
    await app.close()
    await Promise.all(responses)
    expect([aborted.size, aborted.has(waiting)]).to.deep.equal([waiting, false])
  })

  it('is aborted for a pipelined request whose client has left', async () => {
    const [gate, seen] = [deferred(), deferred<boolean>()]
    const app = createApp({ logger: false }).use(
      createRouter()
        .get('/first', () => gate.promise)
        .get('/second', async (ctx) => {
          await gate.promise
          seen.resolve(ctx.signal.aborted)
        }),
    )
    const { port, server } = await app.listen(0, '127.0.0.1')
    const closed = once(server, 'connection').then(async ([socket]) => once(socket as Socket, 'close'))
    const socket = connect(port, '127.0.0.1')
    socket.write(['first', 'second'].map((path) => `GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
    await once(server, 'request')
    socket.destroy()
    await closed
    gate.resolve()
    expect(await seen.promise).to.equal(true)
    await app.close()
  })
})

describe('An API of Node that ctx.signal aborts', () => {
  /** An application whose handler waits for an event that never comes. */
  const waiting = () => {
    const lines: string[] = []
    const entered = deferred()
    const app = createApp({ logger: recorder(lines) }).use(
      createRouter().get('/', ({ signal }) => {
        entered.resolve()
        return once(new EventEmitter(), 'never', { signal })
      }),
    )
    return { app, lines, entered: entered.promise }
  }

  it('ends its request with 503 when the application closes', async () => {
    const { app, entered } = waiting()
    const response = app.inject('/')
    await entered
    await app.close()
    const { statusCode, headers } = await response
    expect([statusCode, headers['retry-after']]).to.deep.equal([503, '1'])
  })

  it('logs no failure when the client has left', async () => {
    const { app, lines, entered } = waiting()
    const { port, server } = await app.listen(0, '127.0.0.1')
    const closed = once(server, 'connection').then(async ([socket]) => once(socket as Socket, 'close'))
    const socket = connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await entered
    socket.destroy()
    await closed
    await app.close()
    expect(lines.filter((line) => line.includes('failed'))).to.deep.equal([])
  })
})

describe('A handler that never settles', () => {
  it('is notified by ctx.signal that its client disconnected', async () => {
    const left = deferred<boolean>()
    const arrived = deferred()
    const app = createApp().use(
      createRouter().get('/', ({ signal }) => {
        signal.addEventListener('abort', () => left.resolve(signal.aborted))
        arrived.resolve()
        return deferred().promise
      }),
    )
    const { port } = await app.listen(0, '127.0.0.1')
    const socket = connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await arrived.promise
    socket.destroy()
    expect(await left.promise).to.equal(true)
    await app.close()
  })
})

async function* parts(gate: Promise<void>) {
  yield 'one '
  await gate
  yield 'two'
}

function ask(port: number, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const failed = (error: Error & { code?: string }): void => resolve(error.code ?? error.message)
    request({ port, host: '127.0.0.1', agent }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve(text)).on('error', failed)
    })
      .on('error', failed)
      .end()
  })
}
