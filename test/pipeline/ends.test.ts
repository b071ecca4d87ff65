import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, scoped, sse, type App, type Context, type RequestEvents } from 'mortar'
import { throughBothAdapters } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'
import { as, createSessions } from '../support/session-brick.ts'

/** A response that is being sent: its client, its source, its session and its application. */
interface Open {
  readonly client: ClientRequest
  readonly endSource: (error?: Error) => void
  readonly endSession: () => void
  readonly app: Pick<App, 'close'>
}

const ENDS: Readonly<Record<string, (open: Open) => unknown>> = {
  'its client is lost': ({ client }) => client.destroy(),
  'its source ends': ({ endSource }) => endSource(),
  'its source fails': ({ endSource }) => endSource(new Error('broken')),
  'its session ends': ({ endSession }) => endSession(),
  'its application closes': ({ app }) => app.close(),
}

/** A source of one item, which goes on until it is ended, and counts its own releases. */
function createSource() {
  const end = deferred<Error | undefined>()
  const source = { released: 0, end: end.resolve, items, stream }
  async function* items(): AsyncGenerator<string> {
    try {
      yield 'first'
      const error = await Promise.race([end.promise, released.promise])
      if (error !== undefined) throw error
    } finally {
      source.released++
    }
  }
  const released = deferred<undefined>()
  function stream(): Readable {
    const readable = new Readable({ read() {} })
    readable.push('first')
    void end.promise.then((error) => (error === undefined ? readable.push(null) : readable.destroy(error)))
    return readable.on('close', () => source.released++)
  }
  return { ...source, count: () => source.released, release: () => released.resolve(undefined) }
}

type Source = ReturnType<typeof createSource>

const KINDS: Readonly<Record<string, (ctx: Context, source: Source) => unknown>> = {
  'A stream': ({ signal }, source) => {
    signal.addEventListener('abort', () => source.end(undefined))
    return source.stream()
  },
  'An async iterable': ({ signal }, source) => {
    signal.addEventListener('abort', source.release)
    return source.items()
  },
  'A stream of events': (ctx, source) =>
    sse(ctx, ({ signal }) => {
      signal.addEventListener('abort', source.release)
      return source.items()
    }),
}

for (const [kind, make] of Object.entries(KINDS))
  describe(`${kind} that ends`, () => {
    const warnings: Error[] = []
    const note = (warning: Error): void => void warnings.push(warning)
    before(() => process.on('warning', note))
    after(() => {
      process.off('warning', note)
      expect(warnings).to.deep.equal([])
    })

    throughBothAdapters((open) => {
      async function countsAfter(ends: readonly string[]): Promise<object> {
        const sessions = createSessions()
        const source = createSource()
        let [disposed, completed] = [0, 0]
        const app = createApp({ logger: false, environment: 'test', shutdownTimeout: '1h' })
          .use(sessions.brick)
          .provide({ own: scoped(() => ({}), { dispose: () => void disposed++ }) })
          .use(
            createRouter().get('/', { auth: true }, (ctx) => {
              void ctx.services['own']
              return make(ctx, source)
            }),
          )
        app.events.typed<RequestEvents>().on('request.completed', () => void completed++)
        const { url } = await open(app)
        const client = request(url, { agent: false, headers: as('ada') })
        client.on('error', () => undefined).end()
        const [res] = (await once(client, 'response')) as [IncomingMessage]
        res.on('error', () => undefined)
        await once(res, 'readable')
        const parts: Open = { client, endSource: source.end, endSession: sessions.end, app }
        for (const end of ends) void ENDS[end]!(parts)
        res.resume()
        const counts = () => ({
          disposed,
          completed,
          released: source.count(),
          watched: sessions.watchers.size,
        })
        const isOver = (): boolean => disposed > 0 && completed > 0 && source.count() > 0
        for (let look = 0; look < 20_000 && !isOver(); look++) await wait(1)
        // What comes once too often comes soon.
        await wait(1)
        return counts()
      }

      for (const first of Object.keys(ENDS))
        it(`is over once, also with another end in the same turn: ${first}`, async () => {
          for (const second of Object.keys(ENDS)) {
            const counts = await countsAfter(second === first ? [first] : [first, second])
            expect(counts, second).to.deep.equal({ disposed: 1, completed: 1, released: 1, watched: 0 })
          }
        })
    })
  })
