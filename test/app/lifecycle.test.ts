import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, defineBrick, loadRoutes, singleton, StartupError } from 'mortar'
import { join } from 'node:path'
import { createLifecycle } from '../../src/app/life/lifecycle.ts'
import { closeOnSignals } from '../../src/app/life/signals.ts'
import { bundleScript } from '../support/bundle-script.ts'
import { recorder } from './recorder.ts'

const PROCESS = { servesRequests: true, stopping: new AbortController().signal }

const hello = () => createRouter().get('/', () => 'hello')

describe('The life of an application', () => {
  afterEach(() => {
    mock.reset()
  })

  it('opens nothing before ready(), and boots once even if ready() is called often', async () => {
    let starts = 0
    const app = createApp({ bricks: [defineBrick({ name: 'count', start: () => void (starts += 1) })] })
    expect(starts).to.equal(0)
    await Promise.all([app.ready(), app.ready(), app.inject('/')])
    expect(starts).to.equal(1)
    await app.close()
  })

  it('has no timer after ready() that a process would wait for', async () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
    // Mocha's own timer of the test runs by then.
    await nextTurn()
    const before = timers()
    const app = createApp({ logger: false, environment: 'test' }).use(hello())
    await app.ready()
    expect(timers()).to.be.at.most(before)
    await app.close()
  })

  it('names a brick that is still starting after 10 s, once', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const lines: string[] = []
    const lifecycle = createLifecycle({ cradle: {}, dispose: () => undefined } as never, recorder(lines), 1)
    const started = deferred()
    const starting = lifecycle.start([{ name: 'slow', start: () => started.promise }] as never, PROCESS)
    mock.timers.tick(9999)
    expect(lines).to.deep.equal([])
    mock.timers.tick(1)
    expect(lines).to.have.length(1)
    expect(lines[0])
      .to.include("The brick 'slow' is still starting after 10 s")
      .and.include('app.ready(), which no start() may await')
    started.resolve()
    await starting
    await lifecycle.stop()
    mock.timers.tick(60_000)
    mock.timers.reset()
    expect(lines).to.have.length(1)
  })

  it('removes no handler of signals while one of them closes it', () => {
    const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const
    const before = new Set(signals.flatMap((signal) => process.listeners(signal)))
    const added = (signal: (typeof signals)[number]): NodeJS.SignalsListener[] =>
      process.listeners(signal).filter((listener) => !before.has(listener))
    const send = (signal: (typeof signals)[number]): void => {
      for (const listener of added(signal)) listener(signal)
    }
    const counts = (): number[] => signals.map((signal) => added(signal).length)
    closeOnSignals(neverSettles)()
    expect(counts()).to.deep.equal([0, 0, 0, 0])
    const remove = closeOnSignals(neverSettles)
    const exit = mock.method(process, 'exit', () => undefined)
    send('SIGTERM')
    remove()
    expect(counts()).to.deep.equal([1, 1, 1, 1])
    send('SIGHUP')
    expect(exit.mock.callCount()).to.equal(0)
    send('SIGTERM')
    expect(exit.mock.calls[0]!.arguments).to.deep.equal([143])
    mock.reset()
    for (const signal of signals) for (const listener of added(signal)) process.off(signal, listener)
  })

  it('listens at the address that listen() returns', async () => {
    const app = createApp().use(hello())
    const { url, port, host } = await app.listen(0, '127.0.0.1')
    expect(url).to.equal(`http://127.0.0.1:${port}`)
    expect(host).to.equal('127.0.0.1')
    expect(await (await fetch(url)).text()).to.equal('hello')
    await app.close()
  })

  it('waits for routes that are still being loaded', async () => {
    const app = createApp()
    void loadRoutes(app, join(import.meta.dirname, '../fixtures/app-routes'))
    const { url } = await app.listen(0, '127.0.0.1')
    expect((await fetch(`${url}/hello`)).status).to.equal(200)
    await app.close()
  })

  it('refuses a port that is taken, names the remedy and stops what had started', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    let stopped = false
    const app = createApp({ bricks: [defineBrick({ name: 'a', stop: () => void (stopped = true) })] })
    const error: unknown = await app.listen(port, '127.0.0.1').catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(StartupError)
    expect((error as StartupError).message)
      .to.contain('EADDRINUSE')
      .and.to.contain('PORT')
    expect(stopped).to.equal(true)
    other.close()
  })

  it('keeps the StartupError that a brick throws in start(), with its own code and remedy', async () => {
    const own = new StartupError('The queue is missing.', { code: 'QUEUE_MISSING', remedy: 'Create it.' })
    const start = () => Promise.reject(own)
    const app = createApp({ logger: false, bricks: [defineBrick({ name: 'queue', start })] })
    expect(await app.ready().catch((thrown: unknown) => thrown)).to.equal(own)
  })

  it('finishes requests in flight before it closes, and tells keep-alive connections to end', async () => {
    const gate = deferred()
    const arrival = deferred()
    let stopped = false
    const app = createApp({ bricks: [defineBrick({ name: 'a', stop: () => void (stopped = true) })] }).use(
      createRouter().get('/', async () => {
        arrival.resolve()
        await gate.promise
        return { stopped }
      }),
    )
    const { url } = await app.listen(0, '127.0.0.1')
    const pending = fetch(url)
    await arrival.promise
    const closing = app.close()
    gate.resolve()
    const response = await pending
    expect(response.headers.get('connection')).to.equal('close')
    expect(await response.json()).to.deep.equal({ stopped: false })
    await closing
    expect(stopped).to.equal(true)
  })

  it('cuts requests off that outlive the deadline', async () => {
    const arrival = deferred()
    const app = createApp({ shutdownTimeout: 0.05 }).use(
      createRouter().get('/', () => {
        arrival.resolve()
        return neverSettles()
      }),
    )
    const { url } = await app.listen(0, '127.0.0.1')
    const pending = fetch(url).then(
      () => 'answered',
      () => 'cut off',
    )
    await arrival.promise
    await app.close()
    expect(await pending).to.equal('cut off')
  })

  it('shares twice shutdownTimeout between a start, requests, bricks and services that all hang', async () => {
    const lines: string[] = []
    const stops: string[] = []
    const hang = (name: string) => () => {
      stops.push(name)
      return neverSettles()
    }
    const names = Array.from({ length: 15 }, (_, index) => `brick${index}`)
    const bricks = names.map((name) =>
      defineBrick({
        name,
        stop: hang(name),
        services: { [`of${name}`]: singleton(() => ({}), { dispose: neverSettles }) },
      }),
    )
    const arrival = deferred()
    const shutdownTimeout = 0.4
    const app = createApp({ logger: recorder(lines), signals: false, shutdownTimeout, bricks }).use(
      createRouter().get('/', () => {
        arrival.resolve()
        return neverSettles()
      }),
    )
    const { url } = await app.listen(0, '127.0.0.1')
    const pending = fetch(url).catch(() => 'cut off')
    await arrival.promise
    const began = performance.now()
    await app.close()
    // Alone, the bricks and the services would each take 15 times shutdownTimeout.
    expect(performance.now() - began).to.be.below(15 * 1000 * shutdownTimeout)
    expect(await pending).to.equal('cut off')
    expect(stops).to.deep.equal(names.toReversed())
    expect(lines.filter((line) => line.includes('did not stop properly'))).to.have.length(names.length)
  })

  it('closes once, also before it was booted, and does not start again', async () => {
    const app = createApp()
    await Promise.all([app.close(), app.close()])
    const error: unknown = await app.ready().catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(StartupError)
  })

  it('boots when a request arrives through Koa before ready() was called', async () => {
    const app = createApp().use(hello())
    const server = createServer(app.koa.callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).to.equal('hello')
    server.closeAllConnections()
    server.close()
    await app.close()
  })

  it('refuses requests through Koa after close()', async () => {
    const app = createApp({ logger: false }).use(hello())
    const server = createServer(app.koa.callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/`
    expect((await fetch(url)).status).to.equal(200)
    await app.close()
    const response = await fetch(url)
    expect([response.status, response.headers.get('connection')]).to.deep.equal([503, 'close'])
    server.closeAllConnections()
    server.close()
  })

  const moments = { immediately: 'listening', 'until the signal': 'starting', never: 'starting' }
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    for (const [START, ready] of Object.entries(moments))
      it(`ends the process with 0 on ${signal}, after the bricks have stopped, if one starts ${START}`, async () => {
        const script = await bundleScript(join(import.meta.dirname, '../fixtures/signals/server.ts'))
        const env = {
          ...process.env,
          NODE_ENV: 'development',
          START,
          ...(ready === 'starting' && { DRAIN_DELAY: '30s' }),
        }
        const child = spawn(process.execPath, [script], { env })
        let output = ''
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
        while (!output.includes(ready)) await once(child.stdout, 'data')
        child.kill(signal)
        const [code] = (await once(child, 'close')) as [number | null]
        expect(output.replace('listening\n', '')).to.equal('starting\nstopped\n')
        expect(code).to.equal(0)
      })
})

/** A promise and the function that fulfils it. */
function deferred(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil
  })
  return { promise, resolve: () => resolve() }
}

function neverSettles(): Promise<never> {
  return new Promise<never>(() => {})
}
