import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { App } from 'mortar'
import { subscribe, type ChannelFrame, type TestSubscription } from '@mortar/realtime/channels/testing'
import { DATABASES, databaseApp } from './engines.ts'
import news from './files/news.ts'
import rooms from './files/rooms/[id].ts'

const LAST = -1

for (const [kind, prepare] of Object.entries(DATABASES))
  describe(`Channels of several processes: ${kind}`, () => {
    const place = prepare()
    const opened: Pick<App, 'close'>[] = []
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((app) => app.close()))
    })
    async function serve(
      ...given: Parameters<typeof databaseApp> extends [unknown, ...infer Rest] ? Rest : never
    ) {
      const made = databaseApp(place().options(), ...given)
      opened.unshift(made.app)
      await made.app.listen(0, '127.0.0.1')
      return { ...made, publish: made.app.services.channels.publish, db: made.app.services.db }
    }

    it('deliver each event once and in one order, whatever the order of the commits', async () => {
      const [one, two] = [await serve(), await serve()]
      const readers = [await subscribe(one.app, 'news'), await subscribe(two.app, 'news')]
      const published = Array.from({ length: 60 }, (_, number) => number)
      await Promise.all(
        published.map(async (number) => {
          const { publish, db } = number % 2 === 0 ? one : two
          await db.transaction(async (tx) => {
            await publish(news(), 'count', { number }, { tx })
            // A later statement of the transaction, so that others commit before it.
            for (let turn = 0; turn < number % 7; turn++) await tx.query('SELECT 1')
          })
          if (number % 10 === 0)
            await db
              .transaction(async () => {
                await publish(news(), 'count', { number: 1000 + number })
                throw new Error('rolled back')
              })
              .catch(() => undefined)
        }),
      )
      await one.publish(news(), 'count', { number: LAST })
      const [first, second] = [await numbersOf(readers[0]!), await numbersOf(readers[1]!)]
      expect(first).to.deep.equal(second)
      expect(first.toSorted((a, b) => a - b)).to.deep.equal(published)
      for (const each of readers) each.close()
    })

    it('keep a slow transaction behind those that commit before it', async () => {
      const { app, publish, db } = await serve()
      const reader = await subscribe(app, 'news')
      const runner = db.createQueryRunner()
      // SQLite has one writer, and one runner for all.
      const isSingle = kind === 'SQLite'
      if (!isSingle) {
        await runner.startTransaction()
        await publish(news(), 'count', { number: 1 }, { tx: runner })
      }
      await publish(news(), 'count', { number: 2 })
      const second = await reader.next()
      expect(second.data).to.deep.equal({ number: 2 })
      if (isSingle) await publish(news(), 'count', { number: 1 })
      else await runner.commitTransaction()
      await runner.release()
      expect((await reader.next()).data).to.deep.equal({ number: 1 })
      const again = await subscribe(app, 'news', { since: second.id! })
      expect(again.first.data).to.deep.equal({ number: 1 })
      expect((await again.next()).type).to.equal('subscribed')
      for (const each of [reader, again]) each.close()
    })

    it('repeat what was missed at another process', async () => {
      const [one, two] = [await serve(), await serve()]
      const reader = await subscribe(one.app, 'rooms/1', { token: 'ada' })
      await two.publish(rooms({ id: '1' }), 'count', { number: 0 })
      while ((await reader.next()).type !== 'event');
      const since = reader.lastId!
      await one.app.close()
      for (let number = 1; number <= 250; number++) await two.publish(rooms({ id: '1' }), 'count', { number })
      await two.publish(rooms({ id: '2' }), 'count', { number: 7 })
      const again = await subscribe(two.app, 'rooms/1', { token: 'ada', since })
      const frames = [again.first]
      for (;;) {
        const frame = await again.next()
        frames.push(frame)
        if (frames.filter(({ type }) => type === 'event').length === 250) break
      }
      expect(eventsOf(frames)).to.deep.equal(Array.from({ length: 250 }, (_, index) => index + 1))
      again.close()
    })

    it('show the users of all processes', async () => {
      const [one, two] = [await serve(), await serve()]
      const ada = await subscribe(one.app, 'rooms/1', { token: 'ada' })
      const bob = await subscribe(two.app, 'rooms/1', { token: 'bob' })
      expect(bob.first.users).to.deep.equal(['ada', 'bob'])
      expect(await ada.next()).to.include({ type: 'join', user: 'bob' })
      const other = await subscribe(one.app, 'rooms/1', { token: 'bob' })
      bob.close()
      await bob.closed
      other.close()
      expect(await ada.next()).to.include({ type: 'leave', user: 'bob' })
      ada.close()
    })

    it('stop the start in production without their tables, and work elsewhere once they are made', async () => {
      const refused = databaseApp(
        place().options(),
        {},
        { environment: 'production', appUrl: 'https://a.example' },
        false,
      )
      const error = await refused.app.ready().catch((thrown: unknown) => thrown)
      expect(error).to.include({ code: 'MORTAR_CHANNELS_TABLE' })
      const { app } = databaseApp(place().options(), {}, {}, false)
      opened.unshift(app)
      await app.listen(0, '127.0.0.1')
      await app.services.db.synchronize()
      const { publish } = app.services.channels
      await publish(news(), 'count', { number: 1 })
      const reader = await subscribe(app, 'news')
      await publish(news(), 'count', { number: 2 })
      let number: number | undefined
      while (number !== 2) number = eventsOf([await reader.next()])[0]
      reader.close()
    })

    it('delete events after their time', async () => {
      const { publish, db } = await serve()
      await publish(news(), 'count', { number: 1 })
      const rows = () => db.getRepository('mortar_channel_events').find()
      while ((await rows()).some((row) => row['seq'] === null)) await wait(20)
      expect(await rows()).to.have.length(2)
      await db.getRepository('mortar_channel_events').update({ channel: 'news' }, { expires_at: 1 })
      const { databaseEngine } = await import('../../../../plugins/realtime/channels/database-engine.ts')
      await databaseEngine({ db } as never).tidy()
      expect((await rows()).map(({ id }) => id as string)).to.deep.equal(['counter'])
    })
  })

function eventsOf(frames: readonly ChannelFrame[]): number[] {
  return frames.flatMap(({ type, data }) => (type === 'event' ? [(data as { number: number }).number] : []))
}

/** Reads the numbers of events until the last one. */
async function numbersOf(reader: TestSubscription): Promise<number[]> {
  const numbers: number[] = []
  for (;;) {
    const [number] = eventsOf([await reader.next()])
    if (number === LAST) return numbers
    if (number !== undefined) numbers.push(number)
  }
}
