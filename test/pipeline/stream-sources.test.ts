import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, type Handler } from 'mortar'
import { recorder } from '../app/recorder.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'
import { UNREADABLE } from '../support/unreadable-error.ts'

/** A source without an end that no signal ends. */
interface Source {
  /** Returns the next chunk, or waits until the source is released. */
  readonly next: () => Promise<unknown>
  readonly release: () => void
}

/** An async iterable with exactly these methods. */
const iterable = (methods: object): object => ({ [Symbol.asyncIterator]: () => methods })
const nextOf =
  ({ next }: Source) =>
  async () => {
    const value = await next()
    return { done: value === undefined, value }
  }
const webOf = ({ next, release }: Source): ReadableStream =>
  new ReadableStream({
    pull: async (controller) => controller.enqueue((await next()) ?? 'end'),
    cancel: release,
  })

const KINDS: Readonly<Record<string, (source: Source) => unknown>> = {
  'an async generator': ({ next, release }) =>
    (async function* chunks() {
      try {
        for (let chunk = await next(); chunk !== undefined; chunk = await next()) yield chunk
      } finally {
        release()
      }
    })(),
  'an iterator with return()': (source) =>
    iterable({ next: nextOf(source), return: async () => source.release() ?? { done: true } }),
  'an iterator with return() and throw()': (source) =>
    iterable({
      next: nextOf(source),
      return: async () => source.release() ?? { done: true },
      throw: async () => source.release() ?? { done: true },
    }),
  'a web stream': webOf,
  'a web Response': (source) => new Response(webOf(source)),
  'a stream': (source) =>
    new Readable({
      read() {
        void source.next().then((chunk) => this.push(chunk))
      },
      destroy(error, done) {
        source.release()
        done(error)
      },
    }),
}

describe('The source of a response', () => {
  throughBothAdapters((open) => {
    for (const [kind, make] of Object.entries(KINDS)) {
      /** Serves a source that yields these chunks and then nothing more. */
      async function serve(...chunks: readonly unknown[]) {
        const released = deferred()
        const asked = deferred()
        const left = [...chunks]
        const next = async (): Promise<unknown> => {
          asked.resolve()
          if (left.length > 0) return left.shift()
          // A generator that is busy cannot be ended.
          await nextTurn()
          return Buffer.alloc(65_536, 'x')
        }
        const handler = () => make({ next, release: released.resolve })
        const app = createApp({ logger: false }).use(createRouter().get('/', handler as Handler))
        const { url } = await open(app)
        const client = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
        return { client, asked: asked.promise, released: released.promise }
      }

      const request = (client: Socket, method: string): void =>
        void client.write(`${method} / HTTP/1.1\r\nHost: x\r\n\r\n`)

      it(`is released when its client leaves: ${kind}`, async () => {
        const { client, released } = await serve('first')
        request(client, 'GET')
        await once(client, 'data')
        client.destroy()
        await released
      })

      it(`is released when its client leaves while it does not read: ${kind}`, async () => {
        const { client, asked, released } = await serve()
        request(client, 'GET')
        await asked
        client.destroy()
        await released
      })

      it(`is released by a response to HEAD, after which the connection serves on: ${kind}`, async () => {
        const { client, released } = await serve('first')
        client.setEncoding('latin1')
        for (const method of ['HEAD', 'HEAD']) {
          request(client, method)
          expect((await once(client, 'data'))[0]).to.match(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/)
        }
        await released
        client.destroy()
      })

      if (kind === 'a stream' || kind.includes('web')) continue
      it(`is released when it yields a value that is neither text nor bytes: ${kind}`, async () => {
        const { client, released } = await serve('first', 'second', 3)
        request(client, 'GET')
        client.resume()
        await released
        client.destroy()
      })
    }

    it('is closed when the client leaves, although its end throws what cannot be read', async () => {
      const ended = deferred()
      const unreadable = (): never => {
        throw UNREADABLE
      }
      async function* chunks() {
        try {
          for (;;) yield nextTurn('chunk')
        } finally {
          ended.resolve()
          unreadable()
        }
      }
      const { fetch } = await open(createApp({ logger: false }).use(createRouter().get('/', () => chunks())))
      const reader = (await fetch('/')).body!.getReader()
      await reader.read()
      await reader.cancel()
      await ended.promise
      // Mocha fails for an error that nobody handles.
      for (let turn = 0; turn < 10; turn++) await nextTurn()
    })

    it('is logged once if it has failed before it is returned, and the headers are already sent', async () => {
      const lines: string[] = []
      const app = createApp({ logger: recorder(lines), environment: 'test' }).use(
        createRouter().get('/', async ({ koa }) => {
          koa.res.flushHeaders()
          const stream = new Readable({ read: () => undefined }).on('error', () => undefined)
          stream.destroy(new Error('early'))
          await nextTurn()
          return stream
        }),
      )
      const { fetch } = await open(app)
      expect(
        await fetch('/')
          .then((response) => response.text())
          .catch(() => 'cut off'),
      ).to.equal('cut off')
      const errors = lines.filter((line) => line.startsWith('error'))
      expect(errors).to.have.length(1)
      expect(errors[0]).to.include('early')
    })
  })
})
