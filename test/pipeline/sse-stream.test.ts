import { once } from 'node:events'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { createApp, createRouter, sse } from 'mortar'
import { OpenRequests } from '../../src/context/request-signal.ts'
import { EventStream, type EventStreamSettings } from '../../src/pipeline/sse/event-stream.ts'
import { deferred } from '../support/deferred.ts'

const nextTurn = promisify(setImmediate)

/** Replaces `setInterval`: time passes only by `advance`. */
class FakeIntervals {
  readonly #real = { setInterval, clearInterval }
  readonly active = new Set<{
    due: number
    readonly delay: number
    readonly run: () => void
    hasRef: boolean
  }>()
  #now = 0

  install(): void {
    Object.assign(globalThis, {
      setInterval: (run: () => void, delay: number) => {
        const interval = {
          run,
          delay,
          due: this.#now + delay,
          hasRef: true,
          refresh: () => void (interval.due = this.#now + delay),
          unref: () => {
            interval.hasRef = false
            return interval
          },
        }
        this.active.add(interval)
        return interval
      },
      clearInterval: (interval: never) => this.active.delete(interval),
    })
  }

  remove(): void {
    Object.assign(globalThis, this.#real)
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds
    for (const interval of this.active)
      for (; interval.due <= this.#now; interval.due += interval.delay) interval.run()
  }
}

/** A source whose events a test sends. */
function sent() {
  let give = deferred<IteratorResult<string>>()
  const source: AsyncIterableIterator<string> & { returned: number } = {
    returned: 0,
    [Symbol.asyncIterator]: () => source,
    next: () => give.promise,
    return: async () => ({ done: true, value: ++source.returned }),
  }
  const settle = (result: IteratorResult<string>): void => {
    const { resolve } = give
    give = deferred()
    resolve(result)
  }
  return {
    source,
    send: (value: string) => settle({ done: false, value }),
    end: () => settle({ done: true, value: undefined }),
  }
}

function streamOf(
  events: EventStreamSettings['events'],
  more: Partial<EventStreamSettings> = {},
): EventStream {
  return new EventStream({ events, ctx: contextOf(), heartbeat: 0, first: undefined, ...more })
}

function contextOf(method = 'GET', abort?: AbortController, open = new OpenRequests()) {
  const internal = { abort, runtime: { open } }
  return { method, get: () => undefined, internal } as unknown as EventStreamSettings['ctx']
}

/** The chunks that a reader of the stream gets. */
function chunksOf(stream: EventStream): string[] {
  const chunks: string[] = []
  stream.on('data', (chunk) => chunks.push(String(chunk)))
  return chunks
}

describe('The source of an event stream', () => {
  it('makes no event while the client is behind', async () => {
    let made = 0
    const stream = streamOf(
      (async function* () {
        while (++made < 10_000) yield 'x'.repeat(100)
      })(),
    )
    stream.read(0)
    for (let turn = 0; turn < 300; turn++) await nextTurn()
    // Node buffers 16 KiB, and 64 KiB from version 22 on.
    expect(made).to.be.within(100, 1000)
    stream.destroy()
  })
})

describe('The heartbeat of an event stream', () => {
  const intervals = new FakeIntervals()
  beforeEach(() => intervals.install())
  afterEach(() => {
    intervals.remove()
    intervals.active.clear()
  })

  it('is a comment after 15 seconds without an event, and again after 15 more', async () => {
    const { source, send, end } = sent()
    const app = createApp({ logger: false }).use(createRouter().get('/', (ctx) => sse(ctx, source)))
    const { url } = await app.listen(0, '127.0.0.1')
    const response = await fetch(url)
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    const read = async (expected: string): Promise<void> => {
      let text = ''
      while (text.length < expected.length) text += (await reader.read()).value ?? ''
      expect(text).to.equal(expected)
    }
    await nextTurn()
    intervals.advance(14_999)
    send('one')
    await read('data: one\n\n')
    intervals.advance(14_999)
    send('two')
    await read('data: two\n\n')
    intervals.advance(15_000)
    await read(':\n\n')
    intervals.advance(15_000)
    await read(':\n\n')
    expect([...intervals.active].map(({ hasRef }) => hasRef)).to.deep.equal([false])
    end()
    expect((await reader.read()).done).to.equal(true)
    expect(intervals.active.size).to.equal(0)
    await app.close()
  })

  it('does not exist with the time 0', async () => {
    const { source } = sent()
    const app = createApp({ logger: false }).use(
      createRouter().get('/', (ctx) => sse(ctx, source, { heartbeat: 0 })),
    )
    const { url } = await app.listen(0, '127.0.0.1')
    const response = await fetch(url)
    await nextTurn()
    expect(intervals.active.size).to.equal(0)
    await response.body!.cancel()
    await app.close()
  })

  it('stops when the client leaves', async () => {
    const { source } = sent()
    const stream = streamOf(source, { heartbeat: 1000 })
    const chunks = chunksOf(stream)
    await nextTurn()
    intervals.advance(1000)
    await nextTurn()
    expect([chunks, intervals.active.size]).to.deep.equal([[':\n\n'], 1])
    stream.destroy()
    await once(stream, 'close')
    expect(intervals.active.size).to.equal(0)
    expect(source.returned).to.be.at.least(1)
  })

  it('does not begin for a client that left while the first fields were written', async () => {
    const { source } = sent()
    const stream = streamOf(source, { heartbeat: 1000, first: { retry: 1 } })
    stream.read()
    stream.destroy()
    await nextTurn()
    await nextTurn()
    expect(intervals.active.size).to.equal(0)
    expect(source.returned).to.be.at.least(1)
  })

  it('does not follow the last event, also while the client has not seen the end', async () => {
    const { source, send, end } = sent()
    const stream = streamOf(source, { heartbeat: 1000 })
    const failures: unknown[] = []
    stream.on('error', (error) => failures.push(error))
    stream.read(0)
    await nextTurn()
    send('one')
    await nextTurn()
    expect(String(stream.read())).to.equal('data: one\n\n')
    end()
    await nextTurn()
    intervals.advance(10_000)
    expect([intervals.active.size, stream.read()]).to.deep.equal([0, null])
    await once(stream, 'end')
    expect(failures).to.deep.equal([])
  })

  it('does not pile up for a client that is behind', async () => {
    const { source } = sent()
    const stream = streamOf(source, { heartbeat: 1000 })
    stream.read(0)
    await nextTurn()
    intervals.advance(10_000)
    expect(stream.readableLength).to.equal(3)
    stream.destroy()
  })
})

describe('The source of an event stream', () => {
  it('is released if the client leaves while a function makes it', async () => {
    const { source } = sent()
    const made = deferred<typeof source>()
    let asked = 0
    source.next = () => {
      asked += 1
      return deferred<never>().promise
    }
    const stream = streamOf(() => made.promise)
    stream.read(0)
    stream.destroy()
    made.resolve(source)
    await nextTurn()
    expect([source.returned, asked]).to.deep.equal([1, 0])
  })

  it('makes no event for HEAD, after the end of its response, and while the application closes', async () => {
    const aborted = new AbortController()
    aborted.abort()
    const closing = new OpenRequests()
    await closing.abortAll()
    const contexts = [
      contextOf('GET', new AbortController()),
      contextOf('POST'),
      contextOf('HEAD'),
      contextOf('GET', aborted),
      contextOf('GET', undefined, closing),
    ]
    const counts = contexts.map(async (ctx) => {
      const stream = streamOf(() => ['a'], { ctx, first: { retry: 1 } })
      const chunks = chunksOf(stream)
      await once(stream, 'end')
      return chunks.length
    })
    expect(await Promise.all(counts)).to.deep.equal([1, 1, 0, 0, 0])
  })

  it('may fail to close: nobody waits for it', async () => {
    const failures: unknown[] = []
    const note = (error: unknown): void => void failures.push(error)
    process.on('unhandledRejection', note)
    const { source } = sent()
    const stream = streamOf(Object.assign(source, { return: () => Promise.reject(new Error('not closed')) }))
    stream.read(0)
    await nextTurn()
    stream.destroy()
    await once(stream, 'close')
    await nextTurn()
    process.off('unhandledRejection', note)
    expect(failures).to.deep.equal([])
  })

  it('with ready events is one write, up to a size', async () => {
    const chunks = chunksOf(streamOf(['a', 'b', 'c'], { first: { retry: 1 } }))
    await nextTurn()
    expect(chunks).to.deep.equal(['retry: 1000\n\ndata: a\n\ndata: b\n\ndata: c\n\n'])
    const large = streamOf(Array.from({ length: 30 }, () => 'x'.repeat(10_000)))
    const all = chunksOf(large)
    await once(large, 'end')
    expect(Math.max(...all.map(({ length }) => length))).to.be.within(10_000, 40_000)
    expect(all.join('')).to.equal(`data: ${'x'.repeat(10_000)}\n\n`.repeat(30))
  })

  it('is asked for nothing while the client is behind, however small its events are', async () => {
    let made = 0
    const stream = streamOf(
      (async function* () {
        for (;;) {
          made += 1
          yield 'x'.repeat(1000)
        }
      })(),
    )
    stream.read(0)
    for (let turn = 0; turn < 100; turn++) await nextTurn()
    // Node 22 and later keep 64 KiB before a client is behind.
    expect(made).to.be.within(16, 100)
    const before = made
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    expect(made).to.equal(before)
    stream.read()
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    expect(made, 'and again after a read').to.be.greaterThan(before)
    stream.destroy()
  })

  it('keeps what was sent before its failure', async () => {
    const stream = streamOf(
      (async function* () {
        yield 'a'
        throw new Error('The source failed.')
      })(),
    )
    const chunks = chunksOf(stream)
    const [error] = (await once(stream, 'error')) as [Error]
    expect([chunks, error.message]).to.deep.equal([['data: a\n\n'], 'The source failed.'])
  })

  it('shares the turns of the event loop with all other streams', async () => {
    const made = Array.from({ length: 20 }, () => 0)
    const streams = made.map((_, index) =>
      streamOf(
        (async function* () {
          for (;;) {
            made[index]! += 1
            yield 'x'
          }
        })(),
      ),
    )
    for (const stream of streams) stream.resume()
    const turns = 50
    for (let turn = 0; turn < turns; turn++) await nextTurn()
    for (const stream of streams) stream.destroy()
    const sum = made.reduce((before, count) => before + count, 0)
    expect(sum).to.be.within(turns * 32, (turns + 2) * 64)
    expect(Math.min(...made), 'each in its turn').to.be.greaterThan(turns)
  })
})
