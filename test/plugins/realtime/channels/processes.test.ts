/* The tests of all engines run together, because most of their time is that of leases and outages. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { App } from 'mortar'
import { subscribe, type ChannelFrame } from '@mortar/realtime/channels/testing'
import { createClient, type TestEvents, type TestEventsRequest } from 'mortar/testing'
import { startProxy } from '../../../../scripts/soak/cutting-proxy.ts'
import { overHttp } from '../../../examples/over-http.ts'
import { bundleScript } from '../../../support/bundle-script.ts'
import { engineApp, ENGINES, type Place } from './engines.ts'
import { LAST, numbersOf } from './numbers.ts'
import news from './files/news.ts'

const SERVERS: Readonly<Record<string, string>> = {
  PostgreSQL: 'TEST_POSTGRES_URL',
  MariaDB: 'TEST_MARIADB_URL',
  Redis: 'TEST_REDIS_URL',
}

describe('Channels of processes that fail', () => {
  const begun: (() => void)[] = []
  const opened: Pick<App, 'close'>[] = []
  after(() => Promise.all(opened.map((app) => app.close())))

  for (const [kind, prepare] of Object.entries(ENGINES)) {
    if (kind === 'memory') continue
    const hasServer = !(kind in SERVERS) || Boolean(process.env[SERVERS[kind]!])
    const faults = kind === 'SQLite' ? [] : (['cut', 'silence'] as const)
    // Their hooks run before all tests, but a suite without its server is skipped.
    const places = hasServer ? [prepare('suite'), ...faults.map(() => prepare('suite'))] : []
    describe(kind, () => {
      if (!hasServer) prepare()
      const test = hasServer ? startEarly : it
      test('lose and double no event when one is killed, and its users leave', () => kill(places[0]!()))
      for (const [index, fault] of faults.entries())
        test(`deliver what was published while one had lost its server: ${fault}`, () =>
          disconnect(places[index + 1]!(), fault))
    })
  }

  // After the hooks of the places.
  before(() => {
    for (const begin of begun) begin()
  })

  /** A test that begins with all others. */
  function startEarly(title: string, act: () => Promise<void>): void {
    let work: Promise<void> | undefined
    const begin = (): Promise<void> => (work ??= act())
    begun.push(() => void begin().catch(() => undefined))
    it(title, begin)
  }

  async function serve(place: Place) {
    const { app } = engineApp(place)
    opened.push(app)
    const { url } = await app.listen(0, '127.0.0.1')
    return { app, url, publish: app.services.channels.publish, db: app.services.db }
  }

  async function kill(place: Place): Promise<void> {
    const { app, url, publish, db } = await serve(place)
    const child = fork(await bundleScript(join(import.meta.dirname, 'member.ts'), 'files'), {
      execArgv: [],
      env: { ...process.env, PLACE: JSON.stringify(place) },
    })
    const [other] = (await once(child, 'message')) as [string]
    const ada = await subscribe(app, 'rooms/1', { token: 'ada' })
    const bob = await follow(other, 'bob')
    expect(await ada.next()).to.include({ type: 'join', user: 'bob' })
    const confirmed: number[] = []
    const numbers: number[] = []
    child.on('message', (number: number) => void confirmed.push(number))
    let lastId: string | undefined
    const read = async (client: TestEvents<ChannelFrame>): Promise<void> => {
      while (numbers.at(-1) !== LAST) {
        const { data, id } = await client.next()
        lastId = id || lastId
        if (data.event === 'count') numbers.push((data.data as { number: number }).number)
      }
    }
    const broken = read(bob).catch(() => undefined)
    const own: Promise<unknown>[] = []
    for (let number = 0; number < 300; number++) {
      if (number === 150) child.kill('SIGKILL')
      const isOwn = number % 2 === 1
      if (isOwn) own.push(db.transaction(() => publish(news(), 'count', { number })))
      else if (child.connected) child.send(number, () => undefined)
      if (number % 10 === 0) await wait(5)
    }
    await broken
    const since = lastId === undefined ? {} : { lastEventId: lastId }
    const again = await follow(url, 'cleo', since)
    await Promise.all(own)
    await publish(news(), 'count', { number: LAST })
    await read(again)
    const found = numbers.slice(0, -1)
    expect(found).to.have.length(new Set(found).size)
    expect(confirmed.filter((number) => !found.includes(number))).to.deep.equal([])
    expect(found.filter((number) => number % 2 === 1).toSorted((one, two) => one - two)).to.deep.equal(
      Array.from({ length: 150 }, (_, index) => 2 * index + 1),
    )
    for (;;) {
      const { type, user } = await ada.next()
      if (type === 'leave' && user === 'bob') break
    }
    again.close()
    ada.close()
  }

  async function disconnect(place: Place, fault: 'cut' | 'silence'): Promise<void> {
    const { port } = place.redis ? new URL(place.redis.url) : (place.connection as { readonly port: number })
    const proxy = await startProxy(Number(port))
    const { app } = await serve(behind(place, proxy.port))
    const { publish } = await serve(place)
    const reader = await subscribe(app, 'news')
    const broken = proxy[fault](5000)
    const goesOn = () => Promise.race([broken.then(() => false), wait(10).then(() => true)])
    let number = 0
    while (await goesOn()) await publish(news(), 'count', { number: number++ })
    await publish(news(), 'count', { number: LAST })
    expect(await numbersOf(reader)).to.deep.equal(Array.from({ length: number }, (_, index) => index))
    reader.close()
    await proxy.stop()
  }
})

function follow(url: string, token: string, more: TestEventsRequest = {}): Promise<TestEvents<ChannelFrame>> {
  const client = createClient(overHttp(url)).withToken(token)
  return client.sse<ChannelFrame>('/channels?channel=rooms/1&channel=news', more)
}

/** A place behind a proxy. */
function behind(place: Place, port: number): Place {
  if (place.redis === undefined)
    return { ...place, connection: { ...place.connection, host: '127.0.0.1', port } as Place['connection'] }
  return { ...place, redis: { ...place.redis, url: `redis://127.0.0.1:${port}` } }
}
