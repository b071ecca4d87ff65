import { once } from 'node:events'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { createApp, createRouter, sse, type App } from 'mortar'
import { createClient, type TestEvent, type TestResponse } from 'mortar/testing'
import { readEvents } from '../../src/testing/test-events.ts'
import { deferred } from '../support/deferred.ts'
import { createSessions } from '../support/session-brick.ts'

/** Everything that the format allows, with each of its line breaks. */
const RAW = [
  ': a comment\n\ndata: plain\n\n',
  'event: change\r\nid: 7\r\ndata: {"text":"\u00e4\\n\u2028"}\r\n\r\n',
  'data:two\rdata\rdata: lines\r\revent: without data\nid: 8\n\n',
  'id\nretry: 3\nother: x\ndata: last\n\ndata: cut off',
].join('')

describe('The events of the test client', () => {
  const opened: App[] = []
  afterEach(async () => {
    for (const app of opened.splice(0)) await app.close()
  })

  function create() {
    const sessions = createSessions()
    const aborted = deferred<unknown>()
    const router = createRouter()
      .get('/raw', (ctx) => {
        ctx.type = 'text/event-stream'
        return Readable.from(
          [...Buffer.from(RAW)].map((byte) => Buffer.of(byte)),
          { objectMode: false },
        )
      })
      .get('/mine', { auth: true }, (ctx) =>
        sse(ctx, async function* ({ lastEventId, signal }) {
          signal.addEventListener('abort', () => aborted.resolve(signal.reason))
          yield { id: 1, data: { user: ctx.user.id, lastEventId, cookie: ctx.get('cookie'), query: ctx.url } }
          await once(signal, 'abort')
        }),
      )
      .get('/broken', (ctx) =>
        sse(ctx, async function* () {
          yield 'first'
          await new Promise(setImmediate)
          throw new Error('The source failed.')
        }),
      )
      .get('/json', () => ({ no: 'stream' }))
    const app = createApp({ logger: false, environment: 'test' }).use(sessions.brick).use(router)
    opened.push(app)
    return { app, client: createClient(app), sessions, aborted: aborted.promise }
  }

  it('are those that EventSource receives, however they arrive', async () => {
    const found: TestEvent<unknown>[] = []
    for await (const event of await create().client.sse('/raw')) found.push(event)
    expect(found).to.deep.equal([
      { event: 'message', id: '', text: 'plain', data: undefined },
      { event: 'change', id: '7', text: '{"text":"\u00e4\\n\u2028"}', data: { text: '\u00e4\n\u2028' } },
      { event: 'message', id: '7', text: 'two\n\nlines', data: undefined },
      { event: 'message', id: '', text: 'last', data: undefined },
    ])
  })

  it('are requested with the token, the cookies and the query of the client, and the last id', async () => {
    const { client } = create()
    client.setCookie('flavour=salt')
    const events = await client
      .withToken('ada')
      .sse<object>('/mine?a=1', { query: { b: '2' }, lastEventId: '5' })
    expect((await events.next()).data).to.deep.equal({
      user: 'ada',
      lastEventId: '5',
      cookie: 'flavour=salt',
      query: '/mine?a=1&b=2',
    })
    events.close()
  })

  it('are refused with the response as the cause', async () => {
    const { client } = create()
    for (const [path, status] of [
      ['/mine', 401],
      ['/json', 200],
    ] as const) {
      const error = await client.sse(path).then(undefined, (thrown: Error) => thrown)
      expect(error)
        .to.be.instanceOf(Error)
        .with.property('message')
        .that.includes(`GET ${path} responded with ${status}`)
      const { status: found, body } = (error as Error).cause as TestResponse
      expect([found, typeof body]).to.deep.equal([status, 'object'])
    }
  })

  it('end for the application when the test closes them', async () => {
    const { client, aborted } = create()
    const events = await client.withToken('ada').sse('/mine')
    await events.next()
    const next = events.next().then(undefined, (error: Error) => error.message)
    events.close()
    expect(await next).to.equal('The stream of events has ended.')
    expect(await aborted).to.include({ code: 'client_closed_request' })
  })

  it('end for the application when the test leaves its loop', async () => {
    const { client, aborted } = create()
    for await (const { id } of await client.withToken('ada').sse('/mine')) if (id === '1') break
    expect(await aborted).to.include({ code: 'client_closed_request' })
  })

  it('end with their session, and throw when they are cut off', async () => {
    const { client, sessions, aborted } = create()
    const events = await client.withToken('ada').sse('/mine')
    const found: string[] = []
    for await (const { id } of events) {
      found.push(id)
      sessions.end()
    }
    expect(found).to.deep.equal(['1'])
    expect(await aborted).to.include({ status: 401 })
    const broken = await client.sse('/broken')
    expect((await broken.next()).text).to.equal('first')
    expect(await broken.next().then(undefined, (error: Error) => error)).to.be.instanceOf(Error)
  })
})

describe('The reader of events', () => {
  it('takes a line break of two characters as one, in two pieces too', async () => {
    const body = Readable.from(['event: change\r', '\ndata: a\r', '\ndata: b\r', '\n\r', '\n'])
    const event = await readEvents(body, new AbortController()).next()
    expect(event).to.include({ event: 'change', text: 'a\nb' })
  })
})
