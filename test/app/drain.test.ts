import { Agent, createServer, get, request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { mock } from 'node:test'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, defineBrick, type Logger } from 'mortar'
import { drain, trackConnections } from '../../src/app/life/drain.ts'
import { markTaken } from '../../src/context/takeover.ts'
import { startChildServer, type ChildServer } from '../support/child-server.ts'
import { skipSuite } from '../support/servers.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'

/**
 * The load of the big test. With `TEST_DRAIN_REQUESTS=2000 DRAIN_SECONDS=5`, the client ignores the readiness for 4 s and the
 * test prints its figures.
 */
const REQUESTS = Number(process.env['TEST_DRAIN_REQUESTS'] ?? 200)
const DELAY = Number(process.env['TEST_DRAIN_SECONDS'] ?? 2.5)
const IS_MEASURED = process.env['TEST_DRAIN_REQUESTS'] !== undefined
/** Bytes of a response; more than the buffers of a kernel. */
const SLOW = 20_000_000
/** Seconds for which the client ignores the readiness. The rest of the delay is the reserve of a loaded machine. */
const IGNORED = DELAY * (IS_MEASURED ? 0.8 : 0.5)

describe('SIGTERM in production', function () {
  // Each test starts a process.
  let server: ChildServer
  beforeEach(async () => {
    server = await startChildServer('signals/serving.ts', {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      DRAIN_DELAY: `${DELAY}s`,
    })
  })
  afterEach(() => server.child.kill('SIGKILL'))

  it('loses no request of a client that ignores the readiness for a part of the delay', async () => {
    const { url, child } = server
    const done: string[] = []
    const failed: string[] = []
    const agent = new Agent({ keepAlive: true, maxSockets: 8 })
    const client = { url, done, failed, isOver: false }
    const clients = [undefined, agent].flatMap((kept) =>
      ['/', '/', '/', '/slow'].map((path) => sendUntilOver(client, path, kept)),
    )
    const stream = openStream(url)
    const upload = uploadSlowly(url, (DELAY + 0.5) * 1000)
    await until(async () => done.length > REQUESTS / 2 && (await stream).received() > 2)

    const signalled = performance.now()
    const before = done.length
    child.kill('SIGTERM')
    const probes: number[] = []
    await until(async () => probes.push((await fetch(`${url}/readyz`)).status) > 0 && probes.at(-1) === 503)
    const noticed = performance.now() - signalled
    const seen = (await stream).received()
    while (performance.now() - signalled < IGNORED * 1000) {
      expect((await fetch(`${url}/livez`)).status).to.equal(200)
      expect((await fetch(`${url}/readyz`)).status).to.equal(503)
      await wait(20)
    }
    client.isOver = true
    await Promise.all(clients)
    agent.destroy()
    expect((await stream).received()).to.be.greaterThan(seen)
    expect(await upload).to.equal(200)
    expect(await (await stream).ended).to.equal('complete')
    expect(await server.ended).to.equal(0)
    const took = performance.now() - signalled
    expect(failed).to.deep.equal([])
    expect(done.length).to.be.at.least(REQUESTS / 2)
    expect(noticed).to.be.below(DELAY * 1000)
    expect(took).to.be.at.least(DELAY * 900)
    if (IS_MEASURED)
      process.stdout.write(
        `      ${failed.length} of ${done.length} requests failed; ${done.length - before} were sent after the signal; readyz 503 after ${Math.round(noticed)} ms; ` +
          `exit after ${(took / 1000).toFixed(2)} s with a delay of ${DELAY} s and an upload of ${DELAY + 0.5} s\n`,
      )
  })

  it('closes every connection after its next response, and is ended by a second signal', async () => {
    const { url, child } = server
    expect((await fetch(url)).headers.get('connection')).to.equal('keep-alive')
    child.kill('SIGTERM')
    await until(async () => (await fetch(`${url}/readyz`)).status === 503)
    expect((await fetch(url)).headers.get('connection')).to.equal('close')
    child.kill('SIGTERM')
    expect(await server.ended).to.equal(143)
  })

  it('has no delay on SIGINT', async () => {
    server.child.kill('SIGKILL')
    server = await startChildServer('signals/serving.ts', {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      DRAIN_DELAY: '60s',
    })
    server.child.kill('SIGINT')
    const early = wait(30_000, 'late', { ref: false })
    expect(await Promise.race([server.ended, early])).to.equal(0)
  })
})

describe('close() with a drainDelay', () => {
  it('serves on, and begins to close after the delay', async () => {
    const order: string[] = []
    const app = createApp()
      .use(defineBrick({ name: 'a', stop: () => void order.push('stopped') }))
      .use(createRouter().get('/', (ctx) => ({ aborted: ctx.signal.aborted })))
    const { url } = await app.listen(0, '127.0.0.1')
    const closing = app.close({ drainDelay: '300ms' })
    expect((await fetch(`${url}/readyz`)).status).to.equal(503)
    expect(await (await fetch(url)).json()).to.deep.equal({ aborted: false })
    expect((await app.inject('/readyz')).statusCode).to.equal(503)
    expect(order).to.deep.equal([])
    await closing
    expect(order).to.deep.equal(['stopped'])
  })

  it('closes immediately when close() is called again without a delay', async () => {
    const app = createApp()
    await app.listen(0, '127.0.0.1')
    const first = app.close({ drainDelay: '1h' })
    await app.close()
    await first
  })

  it('refuses a delay that is not a duration', async () => {
    const app = createApp()
    expect((await startupErrorOf(() => app.close({ drainDelay: 'soon' }))).code).to.equal('MORTAR_OPTION')
    expect((await startupErrorOf(() => createApp({ drainDelay: -1 }))).code).to.equal('MORTAR_OPTION')
    await app.close()
  })
})

describe('close() with a slow client', () => {
  for (const [kind, body] of [
    ['text', 'x'.repeat(SLOW)],
    ['bytes', Buffer.alloc(SLOW, 'x')],
  ] as const)
    it(`waits until the client has taken a response of ${kind}`, async () => {
      const app = createApp({ logger: false }).use(createRouter().get('/', () => body))
      const { port } = await app.listen({ port: 0 })
      const socket = connect(port, '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
      const [head] = (await once(socket, 'data')) as [Buffer]
      socket.pause()
      const closed = app.close()
      // Longer than two sweeps. The rest of the response waits in the process: it is larger than the kernel's buffers.
      await wait(150)
      let received = head.length - head.indexOf('\r\n\r\n') - 4
      socket.on('data', (chunk: Buffer) => (received += chunk.length)).resume()
      await once(socket, 'close')
      expect(received).to.equal(SLOW)
      await closed
    })
})

describe('close() with a request that does not end', () => {
  it('ends when shutdownTimeout is over, not later', async () => {
    const app = createApp({ logger: false, signals: false, shutdownTimeout: 0.1 }).use(
      createRouter().get('/', () => new Promise(ignore)),
    )
    const { url, server } = await app.listen(0, '127.0.0.1')
    const arrived = once(server, 'request')
    const cut = fetch(url).catch(() => 'cut off')
    await arrived
    const order: string[] = []
    // Both timers are of this process, so a busy machine keeps their order.
    const later = setTimeout(() => order.push('eight times the limit'), 800)
    await app.close().then(() => order.push('closed'))
    clearTimeout(later)
    expect(order).to.deep.equal(['closed'])
    expect(await cut).to.equal('cut off')
  })

  it('names its route in the log when the time is over', async () => {
    const { lines, logger } = recorder()
    const never = new Promise<void>(ignore)
    const app = createApp({ logger, signals: false, shutdownTimeout: 0.05 }).use(
      createRouter()
        .get('/rows/:id', async function* () {
          yield 'first row'
          await never
        })
        .get('/slow', () => never)
        .get('/quick', () => 'done'),
    )
    const { url } = await app.listen(0, '127.0.0.1')
    const slow = fetch(`${url}/slow?token=secret`).catch(() => 'cut off')
    const rows = [await fetch(`${url}/rows/1?token=secret`), await fetch(`${url}/rows/2`)]
    await (await fetch(`${url}/quick`)).text()
    await app.close()
    expect(await slow).to.equal('cut off')
    for (const response of rows) await response.text().catch(() => undefined)
    const remedy = 'End the response when ctx.signal aborts.'
    expect(lines).to.have.members([
      `GET /slow (router /) was not over 0.05 s after the stop began, so its connection was closed. ${remedy}`,
      `2 requests of GET /rows/:id (router /) were not over 0.05 s after the stop began, so their connections were closed. ${remedy}`,
    ])
  })
})

describe('drain()', () => {
  // The close() of Node 26 itself ends connections that have sent nothing.
  if (Number(process.versions.node.split('.')[0]) >= 25) skipSuite('Node closes such connections itself')

  it('waits a moment for the request of a connection that was accepted just now', async () => {
    let answer = ''
    // A pause of a loaded machine may exceed that moment.
    for (let attempt = 0; attempt < 10 && answer === ''; attempt++) {
      const server = createServer((_req, res) => void res.end('served'))
      const connections = trackConnections(server, false)
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
      await Promise.all([once(server, 'connection'), once(client, 'connect')])
      const drained = drain(server, connections, 5)
      while (server.listening) await nextTurn()
      client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      answer = await text(client).catch(() => '')
      await drained
    }
    expect(answer).to.contain('served')
  })

  it('keeps a connection of another protocol until it is asked to end', async () => {
    const server = createServer()
    server.on('upgrade', (_req, socket) => {
      markTaken(socket, true)
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    })
    const connections = trackConnections(server, false)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n')
    await once(client, 'data')
    const [socket] = connections.tcp
    mock.timers.enable({ apis: ['setInterval'] })
    // With a deadline that outlasts the test.
    const drained = drain(server, connections, 3600)
    while (server.listening) await nextTurn()
    mock.timers.tick(50)
    expect(socket!.destroyed).to.equal(false)
    markTaken(socket!, false)
    mock.timers.tick(50)
    expect(await drained).to.deep.equal([])
    mock.timers.reset()
  })
})

/** Keeps the warnings of the framework. */
function recorder(): { readonly lines: string[]; readonly logger: Logger } {
  const lines: string[] = []
  const keep = (given: object | string, message?: string): void => {
    lines.push(typeof given === 'string' ? given : (message ?? ''))
  }
  const logger: Logger = { debug: ignore, info: ignore, warn: keep, error: keep, child: () => logger }
  return { lines, logger }
}

const ignore = (): void => undefined

interface Client {
  readonly url: string
  readonly done: string[]
  readonly failed: string[]
  isOver: boolean
}

/** Sends requests one after another, over kept connections with an agent, else each over a new one. */
async function sendUntilOver(client: Client, path: string, agent: Agent | undefined): Promise<void> {
  while (!client.isOver) {
    try {
      const response = await answerOf(get(`${client.url}${path}`, { agent: agent ?? false }))
      const body = await text(response)
      if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${body}`)
      client.done.push(path)
    } catch (error) {
      client.failed.push(`${path}: ${(error as Error).message}`)
    }
    await wait(1)
  }
}

async function answerOf(sent: ReturnType<typeof get>): Promise<IncomingMessage> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

/** Opens a stream of events. `ended` tells whether it was complete when it ended. */
async function openStream(
  url: string,
): Promise<{ received(): number; readonly ended: Promise<'complete' | 'cut off'> }> {
  const response = await answerOf(get(`${url}/events`, { agent: false }))
  let events = 0
  response.on('data', (chunk: Buffer) => (events += chunk.toString().split('data:').length - 1))
  const ended = new Promise<'complete' | 'cut off'>((resolve) => {
    response.once('close', () => resolve(response.complete ? 'complete' : 'cut off'))
    response.on('error', () => resolve('cut off'))
  })
  return { received: () => events, ended }
}

/** Sends a JSON body in small pieces over `ms` milliseconds. @returns the status. */
async function uploadSlowly(url: string, ms: number): Promise<number | undefined> {
  const headers = { 'Content-Type': 'application/json' }
  const sent = request(`${url}/upload`, { method: 'POST', headers, agent: false })
  const answered = answerOf(sent)
  sent.write('["')
  const end = performance.now() + ms
  while (performance.now() < end) {
    sent.write('x')
    await wait(50)
  }
  sent.end('"]')
  const response = await answered
  response.resume()
  return response.statusCode
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(5)
}
