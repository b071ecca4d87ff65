import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, type App } from 'mortar'
import { realtime } from '@mortar/realtime'
import { channels, type InvalidPublication } from '@mortar/realtime/channels'
import { subscribe, type ChannelFrame } from '@mortar/realtime/channels/testing'
import { createClient, type TestEvents } from 'mortar/testing'
import { channelApp, createUsers } from './channel-app.ts'
import news from './files/news.ts'
import documents from './files/documents/[...path].ts'
import rooms from './files/rooms/[id].ts'

describe('Channels', () => {
  const opened: App[] = []
  afterEach(async () => {
    for (const app of opened.splice(0)) await app.close()
  })
  async function serve(
    ...given: Parameters<typeof channelApp> extends [unknown, ...infer Rest] ? Rest : never
  ) {
    const users = createUsers()
    const app = channelApp(users, ...given)
    opened.push(app)
    const { url } = await app.listen(0, '127.0.0.1')
    const { publish } = app.services.channels
    const events = (query: string, token: string, lastEventId?: string) =>
      createClient(app)
        .withToken(token)
        .sse<ChannelFrame>(`/channels?${query}`, lastEventId === undefined ? {} : { lastEventId })
    return { app, users, url, publish, events, of: app.services.channels }
  }

  it('send an event to the subscribers of one channel, over sockets and streams', async () => {
    const { app, events, publish } = await serve()
    const ada = await subscribe(app, 'rooms/1', { token: 'ada' })
    const bob = await events('channel=rooms/1&channel=news&channel=news', 'bob')
    expect((await bob.next()).data.type).to.equal('subscribed')
    expect((await bob.next()).data).to.include({ type: 'subscribed', channel: 'news' })
    const joined = await ada.next()
    expect(joined).to.include({ type: 'join', user: 'bob' })
    await publish(rooms({ id: '2' }), 'message', { text: 'elsewhere' })
    await publish(rooms({ id: '1' }), 'message', { text: 'here', secret: 1 } as { text: string })
    await publish(news(), 'count', { number: 7 })
    const event = await ada.next()
    expect(event).to.deep.include({
      type: 'event',
      channel: 'rooms/1',
      event: 'message',
      data: { text: 'here' },
    })
    expect((await bob.next()).data).to.deep.equal(event)
    expect((await bob.next()).data).to.deep.include({ channel: 'news', data: { number: 7 } })
    bob.close()
    expect(await ada.next()).to.include({ type: 'leave', user: 'bob' })
    ada.close()
  })

  it('refuse a subscription by the guard of its channel, and the others go on', async () => {
    const { app, url } = await serve()
    const cases = [
      ['private/ada', 'bob', 403, 'policy_denied'],
      ['rooms/1', undefined, 401, 'unauthorized'],
      ['rooms/' + 'x'.repeat(41), 'bob', 422, 'validation_failed'],
      ['rooms/' + 'é'.repeat(40), 'bob', 404, 'not_found'],
      ['rooms', 'bob', 404, 'not_found'],
      ['rooms/%zz', 'bob', 400, 'malformed_path'],
    ] as const
    for (const [name, token, status, code] of cases) {
      const socket = await subscribe(app, name, token === undefined ? {} : { token })
      expect(socket.first.problem, name).to.include({ status, code })
      socket.send({ subscribe: 'news' })
      expect(await socket.next()).to.include({ type: 'subscribed', channel: 'news' })
      socket.close()
      const response = await fetch(`${url}/channels?channel=news&channel=${encodeURIComponent(name)}`, {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      })
      expect(response.status, name).to.equal(status)
      expect(await response.json()).to.include({ status, code })
    }
    expect((await fetch(`${url}/channels`)).status).to.equal(422)
    const own = await subscribe(app, 'private/ada', { token: 'ada' })
    expect(own.first).to.include({ type: 'subscribed' })
    own.close()
  })

  it('repeat missed events once and in order, or report a reset', async () => {
    const { app, events, publish } = await serve()
    const first = await subscribe(app, 'news')
    await publish(news(), 'count', { number: 0 })
    const { id } = await first.next()
    first.close()
    for (let number = 1; number <= 450; number++) await publish(news(), 'count', { number })
    await publish(rooms({ id: '1' }), 'count', { number: 1 })
    const again = await subscribe(app, 'news', { since: id! })
    const numbers = [again.first]
    while (numbers.at(-1)!.type === 'event') numbers.push(await again.next())
    expect(numbers.slice(0, -1).map(({ data }) => data)).to.deep.equal(
      Array.from({ length: 450 }, (_, index) => ({ number: index + 1 })),
    )
    expect(numbers.at(-1)!.type).to.equal('subscribed')
    const stream = await events('channel=news&channel=rooms/1', 'ada', id)
    for (let number = 1; number <= 450; number++)
      expect((await stream.next()).data.data).to.deep.equal({ number })
    expect((await stream.next()).data).to.include({ type: 'event', channel: 'rooms/1' })
    expect((await stream.next()).id).to.match(/\.452$/)
    const all = await subscribe(app, 'news', { since: again.lastId! })
    expect(all.first.type).to.equal('subscribed')
    all.close()
    const [epoch, time, at] = id!.split('.') as [string, string, string]
    for (const since of ['nonsense', `other.${time}.${at}`, `${epoch}.${time}.99999`, `${epoch}.1.${at}`]) {
      const lost = await subscribe(app, 'news', { since })
      expect(lost.first, since).to.include({ type: 'reset', channel: 'news' })
      expect(await lost.next()).to.include({ type: 'subscribed' })
      lost.close()
    }
    stream.close()
    again.close()
  })

  it('repeat more than may wait for a client, over sockets and streams', async () => {
    const { app, events, publish } = await serve({}, { sockets: { maxBuffered: 2000 } })
    const { lastId: since, close } = await subscribe(app, 'rooms/1', { token: 'ada' })
    close()
    const texts = Array.from({ length: 150 }, (_, index) => `${index} ${'x'.repeat(30_000)}`)
    for (const text of texts) await publish(rooms({ id: '1' }), 'message', { text })
    const stream = await events('channel=rooms/1', 'ada', since)
    const socket = await subscribe(app, 'rooms/1', { token: 'ada', since: since! })
    for (const [index, text] of texts.entries()) {
      expect((await stream.next()).data.data).to.deep.equal({ text })
      expect((index === 0 ? socket.first : await socket.next()).data).to.deep.equal({ text })
    }
    // What was read before does not wait any more.
    await stream.next()
    const short = ['one', 'two']
    await Promise.all(short.map((text) => publish(rooms({ id: '1' }), 'message', { text })))
    for (const text of short) expect((await stream.next()).data.data).to.deep.equal({ text })
    for (const each of [stream, socket]) each.close()
  })

  it('end by each spelling of their name', async () => {
    const { app } = await serve()
    const socket = await subscribe(app, 'rooms/a@b', { token: 'ada' })
    for (const frame of [{ unsubscribe: 'rooms/a@b' }, { subscribe: 'rooms/a%40b' }]) socket.send(frame)
    expect(await socket.next()).to.deep.equal({ type: 'unsubscribed', channel: 'rooms/a%40b' })
    expect((await socket.next()).type).to.equal('subscribed')
    socket.close()
  })

  it('refuse a credential for a connection without a user, also without an authenticator', async () => {
    const app = createApp({ logger: false, environment: 'test' })
      .use(realtime())
      .use(channels({ directory: new URL('./public', import.meta.url) }))
    opened.push(app)
    await app.listen(0, '127.0.0.1')
    const socket = await subscribe(app, 'news')
    socket.send({ authenticate: 'ada' })
    expect((await socket.next()).problem).to.include({ status: 401, code: 'invalid_token' })
    socket.close()
  })

  it('refuse data, events and parameters that the channel does not declare', async () => {
    const { publish } = await serve()
    const wrong = [
      () => publish(rooms({ id: '1' }), 'message', {} as never),
      () => publish(rooms({ id: '1' }), 'other' as 'message', { text: 'a' }),
      () => publish(rooms({ id: 'x'.repeat(41) }), 'message', { text: 'a' }),
      () => publish(rooms({} as never), 'message', { text: 'a' }),
      () => publish(rooms({ id: '\ud800' }), 'message', { text: 'a' }),
      () => publish(rooms({ id: '1' }), 'message', { text: 'é'.repeat(35_000) }),
    ]
    for (const act of wrong) {
      const error = await act().then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).to.be.instanceOf(TypeError)
    }
    const invalid = await publish(rooms({ id: '1' }), 'message', {} as never).catch((error: unknown) => error)
    expect((invalid as InvalidPublication).issues[0]).to.include({ path: 'text', rule: 'required' })
  })

  it('end with their session, and are not watched longer', async () => {
    const { app, users, events } = await serve()
    const socket = await subscribe(app, 'news', { token: 'ada' })
    const stream = await events('channel=news', 'ada')
    await stream.next()
    users.end('ada')
    expect((await socket.closed).code).to.equal(4401)
    expect(await endOf(stream)).to.equal('The stream of events has ended.')
    await app.close()
    expect(users.watchers.size).to.equal(0)
  })

  it('are judged again, and end for a user whom the policy refuses', async () => {
    const { app, users, events } = await serve({ judgeEvery: 0.02 })
    const socket = await subscribe(app, 'private/ada', { token: 'ada' })
    socket.send({ subscribe: 'news' })
    expect(await socket.next()).to.include({ type: 'subscribed' })
    const stream = await events('channel=private/ada', 'ada')
    await stream.next()
    users.denied.add('ada')
    expect(await socket.next()).to.deep.include({ type: 'refused', channel: 'private/ada' })
    expect((await stream.next()).data).to.include({ type: 'refused' })
    expect(await endOf(stream)).to.equal('The stream of events has ended.')
    socket.send({ unsubscribe: 'news' })
    expect(await socket.next()).to.include({ type: 'unsubscribed' })
    socket.close()
  })

  it('are judged without a policy that never settles', async () => {
    const { app, users } = await serve({ judgeEvery: 0.02 })
    const stuck = await subscribe(app, 'private/eve', { token: 'eve' })
    const ada = await subscribe(app, 'private/ada', { token: 'ada' })
    users.stuck.add('eve')
    users.denied.add('ada')
    expect(await ada.next()).to.deep.include({ type: 'refused' })
    // The next evaluation begins although that of the other client has not ended.
    users.denied.delete('ada')
    ada.send({ subscribe: 'private/ada' })
    expect(await ada.next()).to.include({ type: 'subscribed' })
    users.denied.add('ada')
    expect(await ada.next()).to.deep.include({ type: 'refused' })
    for (const each of [stuck, ada]) each.close()
  })

  it('end when their guard has failed twice in succession, and not before', async () => {
    const { app, users } = await serve({ judgeEvery: 0.02 })
    const socket = await subscribe(app, 'private/ada', { token: 'ada' })
    for (let failure = 0; failure < 3; failure++) {
      users.failing.set('ada', 1)
      while (users.failing.get('ada') !== 0) await wait(5)
      // The next evaluation succeeds.
      users.failing.delete('ada')
      while (!users.failing.has('ada')) await wait(5)
    }
    socket.send({ subscribe: 'news' })
    expect(await socket.next()).to.include({ type: 'subscribed' })
    users.failing.set('ada', 2)
    expect((await socket.next()).problem).to.include({ status: 500 })
    socket.close()
  })

  it('ask for another token when the facts of a policy have expired', async () => {
    const { app, users } = await serve({ judgeEvery: 0.02 })
    const socket = await subscribe(app, 'private/ada', { token: 'ada' })
    users.expired.add('ada')
    expect((await socket.next()).problem).to.include({ status: 401, code: 'invalid_token' })
    socket.send({ authenticate: 'bob' })
    expect((await socket.next()).problem).to.include({ status: 401 })
    socket.send({ authenticate: 'ada:2' })
    expect(await socket.next()).to.include({ type: 'authenticated' })
    socket.send({ subscribe: 'private/ada' })
    expect(await socket.next()).to.include({ type: 'subscribed' })
    // The next evaluations have that token too.
    await wait(60)
    socket.send({ subscribe: 'news' })
    expect(await socket.next()).to.include({ type: 'subscribed' })
    users.moved.set('ada:2', 'bob')
    expect((await socket.next()).problem).to.include({ status: 401, code: 'invalid_token' })
    socket.send({ subscribe: 'private/bob' })
    expect((await socket.next()).problem).to.include({ status: 401 })
    socket.close()
  })

  it('bound the channels of a connection', async () => {
    const { app, url } = await serve({ channelsPerConnection: 2 })
    const socket = await subscribe(app, 'rooms/1', { token: 'ada' })
    socket.send({ subscribe: 'rooms/1' })
    expect((await socket.next()).problem).to.include({ status: 409, code: 'already_subscribed' })
    socket.send({ subscribe: 'rooms/2' })
    expect((await socket.next()).type).to.equal('subscribed')
    socket.send({ subscribe: 'rooms/3' })
    expect((await socket.next()).problem).to.include({ status: 429, code: 'too_many_channels' })
    socket.close()
    const many = ['rooms/1', 'rooms/2', 'rooms/3'].map((name) => `channel=${name}`).join('&')
    expect(
      (await fetch(`${url}/channels?${many}`, { headers: { authorization: 'Bearer ada' } })).status,
    ).to.equal(429)
  })

  it('count streams and sockets of a client together, and of a process', async () => {
    const { app, url, events } = await serve({}, { sockets: { socketsPerClient: 2, sockets: 3 } })
    const stream = (token: string) => events('channel=news', token)
    const refused = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      const response = await fetch(`${url}/channels?channel=news`, { headers })
      expect(response.headers.get('retry-after')).to.equal('5')
      return response.json()
    }
    const first = await stream('ada')
    const socket = await subscribe(app, 'news', { token: 'ada' })
    expect(await refused('ada')).to.include({ status: 429, code: 'too_many_sockets' })
    const other = await stream('bob')
    expect(await refused('cleo')).to.include({ status: 503, code: 'sockets_full' })
    for (const each of [first, other, socket]) each.close()
    while (app.services.realtime.size > 0) await wait(5)
    // A refused subscription takes no place.
    for (let turn = 0; turn < 5; turn++)
      expect(
        (await fetch(`${url}/channels?channel=private/bob`, { headers: { authorization: 'Bearer ada' } }))
          .status,
      ).to.equal(403)
    const again = await stream('ada')
    again.close()
  })

  it('log one line for the end of a stream, and of a subscription that its guard ends', async () => {
    const lines: Record<string, unknown>[] = []
    const write = (fields: object): void => void lines.push(fields as Record<string, unknown>)
    const logger = { debug: write, info: write, warn: write, error: write, fatal: write, trace: write }
    const app = { logger: { ...logger, child: () => logger } as never }
    const { users, events, publish } = await serve({ judgeEvery: 0.02 }, { app })
    const stream = await events('channel=private/ada&channel=news', 'ada')
    for (let frame = 0; frame < 2; frame++) await stream.next()
    await publish(news(), 'count', { number: 1 })
    await stream.next()
    users.denied.add('ada')
    expect((await stream.next()).data.type).to.equal('refused')
    stream.close()
    while (!lines.some(({ event }) => event === 'stream.closed')) await wait(5)
    const ends = lines.filter(({ event }) => /^(?:stream|subscription)\./.test(String(event)))
    expect(ends.map(({ ms: _ms, ...rest }) => rest)).to.deep.equal([
      { event: 'subscription.ended', channel: 'private/ada', status: 403 },
      { event: 'stream.closed', route: '/channels', channels: 2, sent: 1 },
    ])
  })

  it('have all names below a folder with the file of a catch-all', async () => {
    const { app, publish } = await serve()
    const reader = await subscribe(app, 'documents/2026/Q%201/plan')
    expect(reader.first).to.include({ type: 'subscribed', channel: 'documents/2026/Q%201/plan' })
    for (const path of ['2026', '2026/Q 1/plan']) await publish(documents({ path }), 'changed', { by: path })
    expect((await reader.next()).data).to.deep.equal({ by: '2026/Q 1/plan' })
    reader.send({ subscribe: 'documents' })
    expect((await reader.next()).problem).to.include({ status: 404 })
    reader.close()
  })

  it('survive hostile frames', async () => {
    const { app } = await serve()
    const socket = await subscribe(app, 'news')
    const hostile = [
      '{}',
      '{"subscribe":"a","unsubscribe":"b"}',
      '{"subscribe":{}}',
      '{"subscribe":"__proto__"}',
      '{"subscribe":"constructor"}',
      '{"subscribe":"\\ud800"}',
      '{"subscribe":"../news"}',
      '{"subscribe":"rooms/\\u0000"}',
      '{"subscribe":"rooms/1","since":"' + '9'.repeat(200) + '"}',
      '{"authenticate":"ada"}',
      'null',
      '[',
    ]
    for (const text of hostile) {
      socket.sendText(text)
      const frame = await socket.next()
      expect(frame.problem?.status, text).to.be.within(400, 499)
    }
    socket.send({ unsubscribe: 'rooms/9' })
    expect(await socket.next()).to.include({ type: 'unsubscribed' })
    socket.close()
  })

  it('show each user once while one of his connections is open', async () => {
    const { app, of } = await serve()
    const ada = await subscribe(app, 'rooms/1', { token: 'ada' })
    expect(ada.first.users).to.deep.equal(['ada'])
    const [one, two] = [
      await subscribe(app, 'rooms/1', { token: 'bob' }),
      await subscribe(app, 'rooms/1', { token: 'bob' }),
    ]
    expect(two.first.users).to.have.members(['ada', 'bob'])
    expect(await ada.next()).to.include({ type: 'join', user: 'bob' })
    one.close()
    await one.closed
    expect(await of.present(rooms({ id: '1' }))).to.have.members(['ada', 'bob'])
    two.send({ unsubscribe: 'rooms/1' })
    expect(await ada.next()).to.include({ type: 'leave', user: 'bob' })
    for (const each of [ada, two]) each.close()
  })

  it('are listed with their guards', async () => {
    const { entries } = await channelApp(createUsers()).inspect()
    expect((await entries()).map(({ kind, name, settings }) => [kind, name, settings['auth']])).to.deep.equal(
      [
        ['channel', 'documents/[...path]', false],
        ['channel', 'index', false],
        ['channel', 'news', false],
        ['channel', 'private/[owner]', 'owner'],
        ['channel', 'rooms/[id]', true],
      ],
    )
  })
})

/** The error that ends a stream. */
const endOf = (stream: TestEvents<unknown>): Promise<unknown> =>
  stream.next().then(undefined, (error: Error) => error.message)
