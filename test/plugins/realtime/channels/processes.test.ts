import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { App } from 'mortar'
import { subscribe, type ChannelFrame, type TestSubscription } from '@mortar/realtime/channels/testing'
import { createClient, type TestEventsRequest } from 'mortar/testing'
import { startProxy } from '../../../../scripts/soak/cutting-proxy.ts'
import { overHttp } from '../../../examples/over-http.ts'
import { DATABASES, databaseApp } from './engines.ts'
import news from './files/news.ts'

const LAST = -1

for (const [kind, prepare] of Object.entries(DATABASES))
  describe(`Channels of processes that fail: ${kind}`, function () {
    this.timeout(60_000)
    const place = prepare()
    const opened: Pick<App, 'close'>[] = []
    const children: ChildProcess[] = []
    afterEach(async () => {
      for (const child of children.splice(0)) child.kill('SIGKILL')
      await Promise.all(opened.splice(0).map((app) => app.close()))
    })

    async function serve(connection = place().options()) {
      const { app } = databaseApp(connection)
      opened.unshift(app)
      await app.listen(0, '127.0.0.1')
      return { app, publish: app.services.channels.publish }
    }

    async function startMember() {
      const child = fork(join(import.meta.dirname, 'member.ts'), {
        execArgv: ['--import', 'tsx', '--conditions=source'],
        env: { ...process.env, CONNECTION: JSON.stringify(place().options()) },
      })
      children.push(child)
      const [url] = (await once(child, 'message')) as [string]
      return { child, url }
    }

    it('lose and double no event when a process is killed, and its users leave', async () => {
      const { app, publish } = await serve()
      const [first, second] = [await startMember(), await startMember()]
      const ada = await subscribe(app, 'rooms/1', { token: 'ada' })
      const follow = (url: string, token: string, more: TestEventsRequest = {}) =>
        createClient(overHttp(url))
          .withToken(token)
          .sse<ChannelFrame>('/channels?channel=rooms/1&channel=news', more)
      const bob = await follow(first.url, 'bob')
      expect(await ada.next()).to.include({ type: 'join', user: 'bob' })
      const confirmed: number[] = []
      const numbers: number[] = []
      for (const { child } of [first, second])
        child.on('message', (number: number) => void confirmed.push(number))
      let lastId: string | undefined
      const read = async (client: typeof bob): Promise<void> => {
        for (;;) {
          const { data, id } = await client.next()
          lastId = id || lastId
          if (data.event === 'count') numbers.push((data.data as { number: number }).number)
          if (numbers.at(-1) === LAST) return
        }
      }
      const broken = read(bob).catch(() => undefined)
      for (let number = 0; number < 300; number++) {
        const to = [first, second][number % 2]!
        if (number === 150) first.child.kill('SIGKILL')
        if (to.child.connected && to.child.exitCode === null) to.child.send(number, () => undefined)
        if (number % 10 === 0) await wait(5)
      }
      await broken
      const again = await follow(second.url, 'cleo', lastId === undefined ? {} : { lastEventId: lastId })
      while (confirmed.filter((number) => number % 2 === 1).length < 150) await wait(20)
      await publish(news(), 'count', { number: LAST })
      await read(again)
      const found = numbers.slice(0, -1)
      expect(found).to.have.length(new Set(found).size)
      expect(confirmed.filter((number) => !found.includes(number))).to.deep.equal([])
      const odd = found.filter((number) => number % 2 === 1)
      expect(odd.toSorted((one, other) => one - other)).to.deep.equal(
        Array.from({ length: 150 }, (_, index) => 2 * index + 1),
      )
      for (;;) {
        const { type, user } = await ada.next()
        if (type === 'leave' && user === 'bob') break
      }
      again.close()
      ada.close()
    })

    if (kind !== 'SQLite')
      for (const fault of ['cut', 'silence'] as const)
        it(`deliver what was published while a process had lost its database: ${fault}`, async () => {
          const options = place().options() as ReturnType<ReturnType<typeof place>['options']> & {
            port: number
          }
          const proxy = await startProxy(options.port)
          const { app } = await serve({ ...options, host: '127.0.0.1', port: proxy.port } as typeof options)
          const { publish } = await serve()
          const reader = await subscribe(app, 'news')
          const broken = proxy[fault](5000)
          const goesOn = () => Promise.race([broken.then(() => false), wait(10).then(() => true)])
          let number = 0
          while (await goesOn()) await publish(news(), 'count', { number: number++ })
          await publish(news(), 'count', { number: LAST })
          expect(await numbersOf(reader)).to.deep.equal(Array.from({ length: number }, (_, index) => index))
          reader.close()
          await Promise.all(opened.splice(0).map((each) => each.close()))
          await proxy.stop()
        })
  })

async function numbersOf(reader: TestSubscription): Promise<number[]> {
  const numbers: number[] = []
  for (;;) {
    const { type, data } = await reader.next()
    const { number } = (data ?? {}) as { number: number }
    if (number === LAST) return numbers
    if (type === 'event') numbers.push(number)
  }
}
