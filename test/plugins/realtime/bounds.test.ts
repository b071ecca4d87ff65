import { mock } from 'node:test'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, NotFound, type App, type DefinedRoute } from 'mortar'
import { defineSocket, realtime, type RealtimeOptions } from '@mortar/realtime'
import { connect, type HandshakeRefused } from '@mortar/realtime/testing'
import { object, string } from 'mortar/yup'
import { deferred } from '../../support/deferred.ts'
import { recorder } from '../../app/recorder.ts'
import type { Sockets } from '../../../plugins/realtime/sockets.ts'
import { HELLO, HOSTILE } from './hostile-frames.ts'
import { frame, handshake, openRaw } from './raw-socket.ts'
import { as, createSessions } from '../../support/session-brick.ts'

const message = object({ text: string().required() })
const echo = defineSocket({ receive: message, send: message }, async (_ctx, socket) => {
  for await (const { text } of socket) socket.send({ text })
})

describe('A socket', () => {
  const opened: App[] = []
  afterEach(async () => {
    mock.reset()
    for (const app of opened.splice(0)) await app.close()
  })

  async function serve(route: DefinedRoute, options: RealtimeOptions = {}, lines: string[] = []) {
    const sessions = createSessions()
    const app = createApp({ logger: recorder(lines), environment: 'test' })
      .use(sessions.brick)
      .use(realtime(options))
      .use(createRouter().get('/', route))
    opened.push(app)
    const { url } = await app.listen(0, '127.0.0.1')
    const raw = async (...frames: Buffer[]) => {
      const socket = openRaw(url, handshake('/'))
      await socket.until('\r\n\r\n')
      for (const each of frames) socket.socket.write(each)
      return socket
    }
    const { realtime: places } = app.services as unknown as { realtime: Sockets }
    return { app, sessions, raw, places }
  }

  const text = (payload: string) => frame(0x81, payload)

  for (const [name, [frames, code]] of Object.entries(HOSTILE))
    it(`ends on ${name}, and others go on`, async () => {
      const { app, raw } = await serve(echo)
      const other = await connect<typeof echo>(app, '/')
      expect(await (await raw(...frames)).ended).to.equal(code)
      other.send({ text: 'still here' })
      expect(await other.next()).to.deep.equal({ text: 'still here' })
    })

  it('joins fragments in single bytes, with a ping between them', async () => {
    const { raw } = await serve(echo)
    const socket = await raw()
    const frames = [frame(0x01, HELLO.slice(0, 5)), frame(0x89, 'p'), frame(0x80, HELLO.slice(5))]
    for (const byte of Buffer.concat(frames)) {
      socket.socket.write(Buffer.of(byte))
      await nextTurn()
    }
    await socket.until(HELLO)
    expect(socket.text()).to.include('\x8a\x01p')
    socket.socket.destroy()
  })

  it('reports an invalid message and goes on', async () => {
    const { app } = await serve(echo)
    const socket = await connect<typeof echo>(app, '/')
    const codes: string[] = []
    for (const invalid of ['{', '{}', '{"text":"a\\u0000b"}', '[]', '']) {
      socket.sendText(invalid)
      codes.push(((await socket.next()) as unknown as { problem: { code: string } }).problem.code)
    }
    expect(codes).to.deep.equal(['malformed_body', ...Array.from({ length: 4 }, () => 'validation_failed')])
    socket.send({ text: 'fine' })
    expect(await socket.next()).to.deep.equal({ text: 'fine' })
  })

  it('ends with 1007 on an invalid message by option', async () => {
    const { app } = await serve(echo, { invalid: 'close' })
    const socket = await connect(app, '/')
    socket.sendText('{}')
    expect(await socket.next()).to.have.nested.property('problem.status', 422)
    expect(await socket.closed).to.deep.equal({ code: 1007, reason: 'invalid_message' })
  })

  it('without a schema for messages accepts none', async () => {
    const { app } = await serve(defineSocket({}, (ctx) => nextAbort(ctx.signal)))
    const socket = await connect(app, '/')
    socket.sendText('1')
    expect(await socket.closed).to.deep.equal({ code: 1003, reason: 'no_messages' })
  })

  it('ends with 1011 when its handler throws, which is logged once, and never shows the error', async () => {
    const lines: string[] = []
    const { app } = await serve(
      defineSocket({}, () =>
        Promise.reject(Object.assign(new Error('secret detail'), { parameters: ['hunter2'] })),
      ),
      {},
      lines,
    )
    const socket = await connect(app, '/')
    expect(await socket.closed).to.deep.equal({ code: 1011, reason: 'handler_failed' })
    await app.close()
    const errors = lines.filter((line) => line.startsWith('error'))
    expect(errors).to.have.length(1)
    expect(errors[0]).to.include('secret detail').and.not.include('hunter2')
  })

  it('ends with 1011 when its schema for messages throws or rejects', async () => {
    const failing = object({ text: string().test('fails', () => Promise.reject(new Error('no table'))) })
    const throwing = object({
      text: string().test('throws', () => {
        throw new Error('no table')
      }),
    })
    for (const receive of [failing, throwing]) {
      const route = defineSocket({ receive }, async (_ctx, socket) => {
        for await (const each of socket) expect(each).to.equal(undefined)
      })
      const lines: string[] = []
      const { app } = await serve(route, {}, lines)
      const socket = await connect<typeof route>(app, '/')
      socket.send({ text: 'a' })
      expect((await socket.closed).code).to.equal(1011)
      expect(lines.join()).to.include('no table')
    }
  })

  it('ends with the problem that its handler throws', async () => {
    const lines: string[] = []
    const { app } = await serve(
      defineSocket({}, () => Promise.reject(new NotFound('No such room.'))),
      {},
      lines,
    )
    const socket = await connect(app, '/')
    expect(await socket.next())
      .to.have.property('problem')
      .that.includes({ status: 404, detail: 'No such room.' })
    expect(await socket.closed).to.deep.equal({ code: 4404, reason: 'not_found' })
    await app.close()
    expect(lines.filter((line) => line.startsWith('error'))).to.deep.equal([])
  })

  it('sends only what its schema declares, and fails for what does not match', async () => {
    const route = defineSocket({ send: message }, (_ctx, socket) => {
      socket.send({ text: 'a', hidden: 'secret' } as never)
      socket.send({ text: null } as never)
    })
    const lines: string[] = []
    const { app } = await serve(route, {}, lines)
    const socket = await connect<typeof route>(app, '/')
    expect(await socket.next()).to.deep.equal({ text: 'a' })
    expect((await socket.closed).code).to.equal(1011)
    await app.close()
    expect(lines.join()).to.include('does not match its schema: text')
  })

  it('refuses codes that belong to the protocol', async () => {
    const thrown = deferred<unknown>()
    const route = defineSocket({}, (_ctx, socket) => {
      try {
        socket.close(1006)
      } catch (error) {
        thrown.resolve(error)
      }
      socket.close(4000, 'ä'.repeat(200))
    })
    const { app } = await serve(route)
    const socket = await connect(app, '/')
    expect(await thrown.promise).to.be.instanceOf(RangeError)
    expect(await socket.closed).to.deep.equal({ code: 4000, reason: 'ä'.repeat(61) })
  })

  it('is closed with 1013 when its client does not read, lost a second later, and others go on', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const done = deferred<number>()
    const route = defineSocket({ receive: message, send: message }, async (_ctx, socket) => {
      for await (const { text: size } of socket)
        if (size === 'flood') {
          const drained: Promise<void>[] = []
          while (socket.isOpen) {
            socket.send({ text: 'x'.repeat(50_000) })
            drained.push(socket.drained())
            await nextTurn()
          }
          await Promise.all(drained)
          done.resolve(socket.buffered)
        } else socket.send({ text: size })
    })
    const { app, raw, places } = await serve(route)
    const slow = await raw(text('{"text":"flood"}'))
    slow.socket.pause()
    const other = await connect<typeof route>(app, '/')
    expect(await done.promise).to.be.below(1_048_576 + 200)
    other.send({ text: 'a' })
    expect(await other.next()).to.deep.equal({ text: 'a' })
    mock.timers.tick(1000)
    for (const until = performance.now() + 4000; places.size > 1 && performance.now() < until;)
      await nextTurn()
    expect([places.size, ...places.closed]).to.deep.equal([1, ['1013', 1]])
    slow.socket.resume()
    expect(await slow.ended).to.be.oneOf([1013, undefined])
  })

  it('waits for a slow client where its handler does', async () => {
    const route = defineSocket({ send: message }, async (_ctx, socket) => {
      for (let index = 0; index < 200; index++) {
        socket.send({ text: 'x'.repeat(50_000) })
        await socket.drained()
      }
    })
    const { app, raw } = await serve(route)
    const slow = await raw()
    slow.socket.pause()
    await connect(app, '/').then((socket) => socket.closed)
    slow.socket.resume()
    expect(await slow.ended).to.equal(1000)
    expect(slow.text().length).to.be.above(10_000_000)
  })

  it('goes on when either side pings while one large message waits', async () => {
    const end = deferred<string>()
    const route = defineSocket({ receive: message, send: message }, async (_ctx, socket) => {
      for await (const each of socket)
        if (each.text === 'large') socket.send({ text: 'x'.repeat(20_000_000) })
        else if (each.text === 'ping') (socket as unknown as { ping(): void }).ping()
        else end.resolve(`${each.text}, ${socket.buffered > 2_000_000}`)
      end.resolve('cut off')
    })
    const { raw } = await serve(route)
    const slow = await raw()
    slow.socket.pause()
    const texts = ['large', 'ping', 'next'].map((each) => text(`{"text":"${each}"}`))
    slow.socket.write(Buffer.concat([...texts.slice(0, 2), frame(0x89), texts[2]!]))
    expect(await end.promise).to.equal('next, true')
    slow.socket.destroy()
  })

  it('is closed when its client shows no sign of life', async () => {
    const { app, raw } = await serve(echo, { ping: 0.06 })
    const healthy = await connect<typeof echo>(app, '/')
    const lost = await raw()
    // It reads, and never answers a ping.
    expect(await lost.ended).to.equal(undefined)
    expect(lost.text()).to.include('\x89\x00')
    healthy.send({ text: 'alive' })
    expect(await healthy.next()).to.deep.equal({ text: 'alive' })
  })

  it('is not taken for lost while its handler reads none of its messages', async () => {
    const read = deferred()
    const route = defineSocket({ receive: message, send: message }, async (_ctx, socket) => {
      await read.promise
      for await (const each of socket) socket.send(each)
    })
    const { app } = await serve(route, { ping: 0.06 })
    const socket = await connect(app, '/')
    const texts = Array.from({ length: 40 }, (_, index) => String(index).padEnd(20_000))
    for (const each of texts) socket.send({ text: each })
    await wait(300)
    read.resolve()
    for (const each of texts) expect(await socket.next()).to.deep.equal({ text: each })
  })

  it('ends soon when the handler has left messages unread', async () => {
    const route = defineSocket({ receive: message }, async (_ctx, socket) => {
      await wait(100)
      socket.close()
    })
    const { app, places } = await serve(route)
    const socket = await connect(app, '/')
    for (let index = 0; index < 40; index++) socket.send({ text: String(index) })
    const begin = performance.now()
    await socket.closed
    while (places.size > 0) await nextTurn()
    expect(performance.now() - begin).to.be.below(4000)
  })

  it('accepts as many messages in each second as it may, and is forgotten when it is closed', async () => {
    let now = performance.now()
    mock.method(performance, 'now', () => now)
    const { app, places } = await serve(echo, { messageRate: 20 })
    const groups: ReadonlySet<unknown>[] = []
    const watch = places.watch.bind(places)
    places.watch = (socket) => {
      const group = watch(socket)
      groups.push(group)
      return group
    }
    const socket = await connect<typeof echo>(app, '/')
    for (let second = 0; second < 2; second++) {
      for (let index = 0; index < 20; index++) socket.send({ text: String(index) })
      for (let index = 0; index < 20; index++)
        expect(await socket.next()).to.deep.equal({ text: String(index) })
      now += 1000
    }
    expect(groups[0]!.size).to.equal(1)
    socket.close()
    await socket.closed
    while (places.size > 0) await nextTurn()
    expect(groups[0]!.size).to.equal(0)
  })

  it('has one of a limited number of places for each user and in the process', async () => {
    const route = defineSocket({ auth: true }, (ctx) => nextAbort(ctx.signal))
    const { app } = await serve(route, { socketsPerClient: 2, sockets: 3 })
    const refused = async (user: string) =>
      connect(app, '/', { headers: as(user) }).then(
        undefined,
        (error: HandshakeRefused) => error.body as { code: string },
      )
    const first = await connect(app, '/', { token: 'ada' })
    await connect(app, '/', { token: 'ada' })
    expect(await refused('ada')).to.include({ status: 429, code: 'too_many_sockets' })
    await connect(app, '/', { token: 'bob' })
    expect(await refused('bob')).to.include({ status: 503, code: 'sockets_full' })
    first.close()
    await first.closed
    const again = await connect(app, '/', { token: 'bob' })
    again.close()
  })

  it('has the bounds of its route before those of the application, and compresses by option only', async () => {
    const route = defineSocket({ receive: message, maxMessage: 30, compress: true }, (ctx) =>
      nextAbort(ctx.signal),
    )
    for (const [each, isCompressed] of [
      [echo, false],
      [route, true],
    ] as const) {
      const { app } = await serve(each, { maxMessage: 40 })
      const headers = { 'Sec-WebSocket-Extensions': 'permessage-deflate' }
      const socket = openRaw(
        app.listening!.url,
        handshake('/', headers),
        text(`{"text":"${'x'.repeat(24)}"}`),
      )
      if (isCompressed) expect(await socket.ended).to.equal(1009)
      else await socket.until('xxx')
      expect(socket.text().includes('permessage-deflate')).to.equal(isCompressed)
      socket.socket.destroy()
    }
  })

  it('keeps its place when the handshake fails late', async () => {
    const { app, raw } = await serve(echo, { sockets: 1 })
    for (let index = 0; index < 3; index++) {
      const failed = openRaw(app.listening!.url, handshake('/', { 'Sec-WebSocket-Key': 'short' }))
      await failed.ended
    }
    const socket = await raw(text(HELLO))
    await socket.until(HELLO)
    socket.socket.destroy()
  })

  it('stops its handler when the application closes, also in the middle of a message', async () => {
    const ended = deferred<string[]>()
    const route = defineSocket({ receive: message }, async (ctx, socket) => {
      const read: string[] = []
      for await (const { text: each } of socket) {
        read.push(each)
        await nextAbort(ctx.signal)
      }
      ended.resolve(read)
    })
    const { app, places } = await serve(route)
    const socket = await connect<typeof route>(app, '/')
    socket.send({ text: 'a' })
    socket.send({ text: 'b' })
    while (places.totals.received < 2) await nextTurn()
    await app.close()
    expect(await ended.promise).to.deep.equal(['a'])
    expect(await socket.closed).to.deep.equal({ code: 1001, reason: 'closing' })
  })

  it('ends with 1012 when mortar dev starts the application again', async () => {
    const { app } = await serve(echo)
    const socket = await connect(app, '/')
    process.env['FRAMEWORK_MODE'] = 'dev'
    try {
      await app.close()
    } finally {
      delete process.env['FRAMEWORK_MODE']
    }
    expect(await socket.closed).to.deep.equal({ code: 1012, reason: 'restart' })
  })
})

function nextAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}
