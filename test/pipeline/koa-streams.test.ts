import { createReadStream } from 'node:fs'
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Router, type RouterMiddleware } from '@koa/router'
import { expect } from 'chai'
import Koa, { type Middleware } from 'koa'
import mount from 'koa-mount'
import { createApp, fromKoa, fromKoaRouter, type App, type Logger } from 'mortar'
import { ignore } from '../../src/support/ignore.ts'
import { throughBothAdapters } from '../support/adapters.ts'

/** Bodies that fail before their first byte: earlier, in the next tick or a few turns later. */
const FAILING: Record<string, () => unknown> = {
  'a file that is not there': () => createReadStream('/nothing/here'),
  destroyed: () => new PassThrough().destroy(),
  failed: () => new PassThrough().destroy(new Error('failed')),
  'failed, of objects': () => new PassThrough({ objectMode: true }).destroy(new Error('failed')),
  'of objects that are not chunks': () => Readable.from([{ no: 'chunk' }]),
  'failing in the next tick': () => later(process.nextTick, new PassThrough()),
  'failing in the next turn': () => later(setImmediate, new PassThrough()),
  'with an error but not destroyed': () => {
    const stream = new PassThrough()
    process.nextTick(() => stream.emit('error', new Error('failed')))
    return stream
  },
  'of another package, failed': () => foreign().destroy(new Error('failed')),
  'of another package, failing': () => later(setImmediate, foreign()),
  'a web stream': () => new ReadableStream({ pull: () => Promise.reject(new Error('failed')) }),
  'a web response': () =>
    new Response(new ReadableStream({ pull: () => Promise.reject(new Error('failed')) })),
}

/** Sets the body that the query names. */
const setBody: Middleware = (ctx) => {
  ctx.body = FAILING[String(ctx.query['of'])]!()
}

/** Koa middleware that sets the body and does not call `next()`, or has called it before. */
const MIDDLEWARE: Record<string, Middleware> = {
  'a function': (ctx, next) => void setBody(ctx, next),
  'an async function': async (ctx, next) => void setBody(ctx, next),
  'a function that continues for some turns': async (ctx, next) => {
    setBody(ctx, next)
    for (let turn = 0; turn < 5; turn++) await nextTurn()
  },
  'a function after next()': async (ctx, next) => {
    await next()
    setBody(ctx, next)
  },
}

const MOUNTS: Record<string, (app: App, middleware: Middleware) => unknown> = {
  'app.koa.use()': (app, middleware) => app.koa.use(middleware),
  'fromKoa()': (app, middleware) => app.use(fromKoa(middleware)),
  'fromKoa() behind middleware': (app, middleware) =>
    app.use((_ctx, next) => next()).use(fromKoa(middleware)),
  'fromKoaRouter()': (app, middleware) =>
    app.use(fromKoaRouter(new Router().all('/', middleware as RouterMiddleware))),
}

describe('A stream that Koa middleware sets as the body and that fails', () => {
  throughBothAdapters((open) => {
    for (const [place, add] of Object.entries(MOUNTS))
      for (const [kind, middleware] of Object.entries(MIDDLEWARE))
        it(`is a 500 with one line in the log, and does not affect HEAD: ${kind} in ${place}`, async () => {
          const { app, lines } = logging()
          add(app, middleware)
          const { fetch } = await open(app)
          for (const name of Object.keys(FAILING)) {
            const path = `/?of=${encodeURIComponent(name)}`
            expect((await fetch(path)).status, name).to.equal(500)
            expect(lines.splice(0), name).to.have.length(1)
            await fetch(path, { method: 'HEAD' })
            lines.length = 0
          }
        })

    for (const [place, add] of Object.entries(MOUNTS))
      it(`ends the connection with one line in the log when bytes were sent: ${place}`, async () => {
        const { app, lines } = logging()
        add(app, (ctx) => {
          const stream = new PassThrough()
          stream.write('part')
          setTimeout(() => stream.destroy(new Error('half-way')), 20)
          ctx.body = stream
        })
        const { fetch } = await open(app)
        const response = await fetch('/')
        expect([response.status, await response.text().catch(() => 'cut off')]).to.deep.equal([
          200,
          'cut off',
        ])
        expect(lines).to.have.length(1)
      })
  })

  it('is a 500 in an application that is mounted in another', async () => {
    const { app } = logging()
    app.koa.use(setBody)
    const outer = new Koa().use(mount('/', app.koa))
    const errors: unknown[] = []
    outer.on('error', (error) => errors.push(error))
    const server = createServer(outer.callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    for (const name of Object.keys(FAILING)) {
      const { status } = await fetch(`http://127.0.0.1:${port}/?of=${encodeURIComponent(name)}`)
      expect([status, errors.splice(0).length], name).to.deep.equal([500, 1])
    }
    server.close().closeAllConnections()
    await app.close()
  })
})

describe('A stream that Koa middleware sets as the body and that is not sent', () => {
  const BODIES: Record<string, (closed: () => void) => unknown> = {
    'of Node': (closed) => new PassThrough().once('close', closed),
    'of the web': (closed) => new ReadableStream({ cancel: closed }),
  }
  const ENDS: Record<string, Middleware> = {
    'of a status without a body': () => undefined,
    'of an error': (ctx) => ctx.throw(418),
  }
  throughBothAdapters((open) => {
    for (const [place, add] of Object.entries(MOUNTS))
      for (const [reason, end] of Object.entries(ENDS).slice(0, place === 'app.koa.use()' ? 1 : 2))
        it(`is closed because ${reason}: ${place}`, async () => {
          const { app } = logging()
          let make = (): unknown => undefined
          add(app, (ctx, next) => {
            ctx.status = 204
            ctx.body = make()
            return end(ctx, next) as undefined
          })
          const { fetch } = await open(app)
          for (const body of Object.values(BODIES))
            await new Promise<void>((resolve, reject) => {
              make = () => body(resolve)
              fetch('/').catch(reject)
            })
        })
  })
})

it('A Blob as the body of Koa middleware keeps its length', async () => {
  const { app } = logging()
  app.koa.use((ctx) => void (ctx.body = new Blob(['bytes'])))
  const { url } = await app.listen(0, '127.0.0.1')
  for (const method of ['GET', 'HEAD'])
    expect((await fetch(url, { method })).headers.get('content-length')).to.equal('5')
  await app.close()
})

function logging(): { app: App; lines: unknown[] } {
  const lines: unknown[] = []
  const error = (...line: readonly unknown[]): void => void lines.push(line)
  const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error, child: () => logger }
  return { app: createApp({ logger, logRequests: false }), lines }
}

function later<Stream extends { destroy(error: Error): unknown }>(
  schedule: (act: () => void) => unknown,
  stream: Stream,
): Stream {
  schedule(() => stream.destroy(new Error('failed')))
  return stream
}

/** A stream whose class is not Node's, as of the package readable-stream. */
function foreign(): PassThrough {
  return new Proxy(new PassThrough(), { getPrototypeOf: () => EventEmitter.prototype })
}
