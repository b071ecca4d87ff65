import { connect as connectTcp } from 'node:net'
import { once } from 'node:events'
import { mock } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, ServiceUnavailable, StartupErrors, type App } from 'mortar'
import { object, string } from 'mortar/yup'
import { realtime } from '@mortar/realtime'
import { channel, channels, type ChannelAddress } from '@mortar/realtime/channels'
import { subscribe } from '@mortar/realtime/channels/testing'
import { loadChannels } from '../../../../plugins/realtime/channels/load-channels.ts'
import { newEvent } from '../../../../plugins/realtime/channels/publication.ts'
import { runtimeOf } from '../../../../plugins/realtime/channels/runtime.ts'
import { handshake, openRaw, frame } from '../raw-socket.ts'
import { recorder } from '../../../app/recorder.ts'
import { channelApp, createUsers, DIRECTORY } from './channel-app.ts'
import documents from './files/documents/[...path].ts'
import news from './files/news.ts'
import rooms from './files/rooms/[id].ts'

describe('Channels with faults', () => {
  const opened: Pick<App, 'close'>[] = []
  afterEach(async () => {
    for (const app of opened.splice(0)) await app.close()
  })

  it('stop the start, all of them in one message, and without auth as well', async () => {
    const app = createApp({ logger: false, environment: 'test' })
      .use(createUsers().brick)
      .use(realtime())
      .use(channels({ directory: new URL('./broken', import.meta.url) }))
    const inspected = await app.inspect()
    const error = await inspected.entries().catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(StartupErrors)
    const found = (error as StartupErrors).errors.map(({ code, files }) => [
      code,
      files[0]?.split('/broken/')[1],
    ])
    expect(found).to.deep.equal([
      ['MORTAR_CHANNELS_FILE', 'empty.ts'],
      ['MORTAR_CHANNELS_FILE', 'none.ts'],
      ['MORTAR_CHANNELS_FILE', 'open.ts'],
      ['MORTAR_ROUTE_BRACKET_UNCLOSED', 'rooms/[[id].ts'],
      ['MORTAR_ROUTE_PARAMS_KEY', 'rooms/[id].ts'],
      ['MORTAR_CHANNELS_FILE', 'schema.ts'],
      ['MORTAR_CHANNELS_FILE', undefined],
    ])
    const { message } = error as StartupErrors
    expect(message).to.match(/schema\.ts has no schema for its event 'added'\./)
    expect(message).to.match(/option keep of the channel \S+short\.ts is a number, not seconds above 0/)
  })

  it('stop the start without an authenticator', async () => {
    const app = createApp({ logger: false, environment: 'test' })
      .use(realtime())
      .use(channels({ directory: DIRECTORY }))
    const error = await app.ready().then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).to.include({ code: 'MORTAR_AUTH_MISSING' })
  })

  it('cut a client off that does not read, and others get everything', async () => {
    const users = createUsers()
    const app = channelApp(users, {}, { sockets: { maxBuffered: '256kb' } })
    opened.push(app)
    const { url, port } = await app.listen(0, '127.0.0.1')
    const stream = connectTcp(port, '127.0.0.1')
    stream.on('error', () => undefined)
    await once(stream, 'connect')
    stream.pause()
    stream.write('GET /channels?channel=rooms/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer slow\r\n\r\n')
    const socket = openRaw(url, handshake('/channels', { authorization: 'Bearer lame' }))
    await socket.until('\r\n\r\n')
    socket.socket.write(frame(0x81, '{"subscribe":"rooms/1"}'))
    socket.socket.pause()
    const reader = await subscribe(app, 'rooms/1', { token: 'ada' })
    const present = () => app.services.channels.present(rooms({ id: '1' }))
    while ((await present()).length < 3) await wait(5)
    const text = 'x'.repeat(50_000)
    let published = 0
    const numbers: unknown[] = []
    while ((await present()).length > 1) {
      await app.services.channels.publish(rooms({ id: '1' }), 'message', { text })
      published++
      for (;;) {
        const next = await reader.next()
        if (next.type !== 'event') continue
        numbers.push(next.id)
        break
      }
      expect(published).to.be.below(2000)
    }
    expect(new Set(numbers).size).to.equal(published)
    reader.close()
    stream.destroy()
    socket.socket.destroy()
  })

  it('refuse a subscription whose missed events cannot be read, and accept it when they can', async () => {
    const app = channelApp(createUsers())
    opened.push(app)
    const { url } = await app.listen(0, '127.0.0.1')
    const { hub } = runtimeOf(app.services.channels)
    const away = mock.method(hub, 'open', async () => {
      throw new ServiceUnavailable('The events cannot be read.')
    })
    const socket = await subscribe(app, 'news', { since: 'a.1.1' })
    expect(socket.first).to.deep.include({ type: 'refused', channel: 'news' })
    expect(socket.first.problem).to.include({ status: 503 })
    const response = await fetch(`${url}/channels?channel=news`)
    expect(await response.json()).to.include({ status: 503, code: 'service_unavailable' })
    while (app.services.realtime.size > 1) await wait(5)
    away.mock.restore()
    socket.send({ subscribe: 'news' })
    expect(await socket.next()).to.include({ type: 'subscribed' })
    socket.close()
  })

  it('log the error of a policy, which ends no connection', async () => {
    const [users, lines] = [createUsers(), [] as string[]]
    const app = channelApp(users, {}, { app: { logger: recorder(lines) } })
    opened.push(app)
    await app.listen(0, '127.0.0.1')
    users.failing.set('ada', 1)
    const socket = await subscribe(app, 'private/ada', { token: 'ada' })
    expect(socket.first.problem).to.include({ status: 500, code: 'internal_error' })
    expect(lines.filter((line) => line.includes('The database does not respond.'))).to.have.length(1)
    socket.send({ subscribe: 'private/ada' })
    expect(await socket.next()).to.include({ type: 'subscribed' })
    socket.close()
  })

  it('judge the subscriptions of a client that sends another valid credential immediately', async () => {
    const users = createUsers()
    const app = channelApp(users)
    opened.push(app)
    await app.listen(0, '127.0.0.1')
    const socket = await subscribe(app, 'private/ada', { token: 'ada' })
    socket.send({ authenticate: 'unknown to the authenticator' })
    expect((await socket.next()).problem).to.include({ status: 401, code: 'invalid_token' })
    users.denied.add('ada')
    socket.send({ authenticate: 'ada:2' })
    expect(await socket.next()).to.deep.include({ type: 'refused', channel: 'private/ada' })
    expect(await socket.next()).to.include({ type: 'authenticated' })
    socket.close()
  })

  const long = (length: number): string => 'x'.repeat(length)
  const text = { text: 'a' }
  const other = channel({ auth: false, events: { message: object({ text: string().required() }) } })
  const publications: readonly [to: ChannelAddress, event: string, data: unknown, expected: RegExp][] = [
    [rooms({ id: 7 as never }), 'message', text, /^rooms\/7$/],
    [rooms({ id: '' }), 'message', text, /no text or number for its parameter id\.$/],
    [rooms({ id: {} as never }), 'message', text, /no text or number for its parameter id\.$/],
    [rooms({ id: '\ud800' }), 'message', text, /^The parameter id of the channel has half/],
    [documents({ path: long(190) }), 'changed', { by: 'a' }, /^documents\/x{190}$/],
    [documents({ path: long(191) }), 'changed', { by: 'a' }, /^The name of a channel of \S+ is too long\.$/],
    [other(), 'message', text, /^This channel is not in the directory of channels/],
    [rooms({ id: '1' }), 'other', text, /has no event 'other', only message, count\.$/],
    [rooms({ id: '1' }), 'message', {}, /is invalid: text \(required\)\.$/],
    [rooms({ id: '1' }), 'message', null, /is invalid: data \(\w+\)\.$/],
    [rooms({ id: '1' }), 'message', { text: long(65_525) }, /^rooms\/1$/],
    [rooms({ id: '1' }), 'message', { text: long(65_526) }, /is larger than 64 KiB\.$/],
  ]
  for (const [index, [to, name, data, expected]] of publications.entries())
    it(`name the fault of a publication: ${index + 1} ${expected.source}`, async () => {
      const found = newEvent(await loadChannels(DIRECTORY), to, { name, data })
      expect(
        await found.then(
          (event) => event.channel,
          (error: Error) => error.message,
        ),
      ).to.match(expected)
    })

  it('publish nothing of a transaction that is not known, and report it', async () => {
    const app = channelApp(createUsers())
    opened.push(app)
    await app.listen(0, '127.0.0.1')
    const tx = { query: () => undefined, isTransactionActive: true, isReleased: false }
    const error = await app.services.channels.publish(news(), 'count', { number: 1 }, { tx }).catch(String)
    expect(error).to.match(/^TypeError: publish knows the end/)
  })
})
