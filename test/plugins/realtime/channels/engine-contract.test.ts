import { mock } from 'node:test'
import { expect } from 'chai'
import type { App } from 'mortar'
import { subscribe } from '@mortar/realtime/channels/testing'
import { engineApp, ENGINES, forgetEvents } from './engines.ts'
import { LAST, nextEvent, numbersOf } from './numbers.ts'
import news from './files/news.ts'
import rooms from './files/rooms/[id].ts'

for (const [kind, prepare] of Object.entries(ENGINES))
  describe(`Channels with the engine ${kind}`, () => {
    const opened: Pick<App, 'close'>[] = []
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((app) => app.close()))
      mock.timers.reset()
    })
    // Its hooks follow those above.
    const place = prepare()
    async function serve() {
      const made = engineApp(place())
      opened.unshift(made.app)
      await made.app.listen(0, '127.0.0.1')
      return { ...made, ...made.app.services.channels, db: made.app.services.db }
    }
    /** Two processes, or one twice for an engine that knows only one. */
    async function serveTwo() {
      const one = await serve()
      return [one, place().engine === 'memory' ? one : await serve()] as const
    }

    it('deliver each event once and in one order, whatever the order of the commits', async () => {
      const [one, two] = await serveTwo()
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
      const found: number[][] = [[], []]
      for (const [index, reader] of readers.entries())
        while (found[index]!.length < 60) found[index]!.push(await nextEvent(reader))
      await one.publish(news(), 'count', { number: LAST })
      for (const reader of readers) expect(await numbersOf(reader)).to.deep.equal([])
      expect(found[0]).to.deep.equal(found[1])
      expect(found[0]!.toSorted((a, b) => a - b)).to.deep.equal(published)
      for (const each of readers) each.close()
    })

    it('leave a transaction inside another one with the end of that one', async () => {
      const { app, publish, db } = await serve()
      const reader = await subscribe(app, 'news')
      const publishInside = (number: number, end: () => void) =>
        db.transaction(async (tx) => {
          await tx.transaction((inner) => publish(news(), 'count', { number }, { tx: inner }))
          end()
        })
      const rollBack = () => {
        throw new Error('rolled back')
      }
      await publishInside(1, rollBack).catch(() => undefined)
      await publishInside(2, () => undefined)
      await publish(news(), 'count', { number: LAST })
      expect(await numbersOf(reader)).to.deep.equal([2])
      reader.close()
    })

    it('keep a slow transaction behind those that commit before it', async () => {
      const { app, publish, db } = await serve()
      const reader = await subscribe(app, 'news')
      // SQLite has one writer, so that the second event would wait for the first.
      const isSingle = kind === 'SQLite'
      let commit = (): void => undefined
      const gate = new Promise<void>((resolve) => {
        commit = resolve
      })
      const slow = async (): Promise<void> => {
        await publish(news(), 'count', { number: 1 })
        await gate
      }
      const first = isSingle ? gate.then(slow) : db.transaction(slow)
      await publish(news(), 'count', { number: 2 }, { tx: false })
      const second = await reader.next()
      expect(second.data).to.deep.equal({ number: 2 })
      commit()
      await first
      expect((await reader.next()).data).to.deep.equal({ number: 1 })
      const again = await subscribe(app, 'news', { since: second.id! })
      expect(again.first.data).to.deep.equal({ number: 1 })
      expect((await again.next()).type).to.equal('subscribed')
      if (!isSingle) {
        const outside = db.transaction(async () => {
          await publish(news(), 'count', { number: 3 }, { tx: false })
          throw new Error('rolled back')
        })
        await outside.catch(() => undefined)
        expect((await reader.next()).data).to.deep.equal({ number: 3 })
      }
      for (const each of [reader, again]) each.close()
    })

    it('repeat what was missed at another process', async () => {
      const [one, two] = await serveTwo()
      const reader = await subscribe(one.app, 'rooms/1', { token: 'ada' })
      await two.publish(rooms({ id: '1' }), 'count', { number: 0 })
      while ((await reader.next()).type !== 'event');
      const since = reader.lastId!
      if (one === two) reader.close()
      else await one.app.close()
      for (let number = 1; number <= 250; number++) {
        await two.publish(rooms({ id: '1' }), 'count', { number })
        if (number % 50 === 0) await two.publish(rooms({ id: '3' }), 'count', { number: -number })
      }
      await two.publish(rooms({ id: '2' }), 'count', { number: 7 })
      const again = await subscribe(two.app, 'rooms/1', { token: 'ada', since })
      expect(again.first.data).to.deep.equal({ number: 1 })
      for (let number = 2; number <= 250; number++) expect(await nextEvent(again)).to.equal(number)
      again.close()
    })

    it('show the users of all processes', async () => {
      const [one, two] = await serveTwo()
      const ada = await subscribe(one.app, 'rooms/1', { token: 'ada' })
      const bob = await subscribe(two.app, 'rooms/1', { token: 'bob' })
      expect(bob.first.users).to.deep.equal(['ada', 'bob'])
      expect(await ada.next()).to.include({ type: 'join', user: 'bob' })
      const other = await subscribe(one.app, 'rooms/1', { token: 'bob' })
      bob.close()
      await bob.closed
      expect(await one.present(rooms({ id: '1' }))).to.deep.equal(['ada', 'bob'])
      other.close()
      expect(await ada.next()).to.include({ type: 'leave', user: 'bob' })
      ada.close()
    })

    it('show users in the order of their ids, whatever the order of their entries and renewals', async () => {
      mock.timers.enable({ apis: ['setInterval'] })
      const [one, two] = await serveTwo()
      const readers = [
        await subscribe(one.app, 'rooms/1', { token: 'dan' }),
        await subscribe(two.app, 'rooms/1', { token: 'bob' }),
        await subscribe(one.app, 'rooms/1', { token: 'cyd' }),
      ]
      expect(readers.at(-1)!.first.users).to.deep.equal(['bob', 'cyd', 'dan'])
      // Renews the leases, for which the next entry waits.
      mock.timers.tick(1100)
      readers.push(await subscribe(one.app, 'rooms/1', { token: 'ada' }))
      expect(readers.at(-1)!.first.users).to.deep.equal(['ada', 'bob', 'cyd', 'dan'])
      for (const { present } of [one, two])
        expect(await present(rooms({ id: '1' }))).to.deep.equal(['ada', 'bob', 'cyd', 'dan'])
      for (const each of readers) each.close()
    })

    // The events in the memory of a process end with it.
    if (kind !== 'memory')
      it('report a reset when events are lost, and go on', async () => {
        const [one, two] = await serveTwo()
        // The numbers of another order begin below.
        for (let turn = 0; turn < 5; turn++) await one.publish(news(), 'count', { number: 0 })
        const reader = await subscribe(one.app, 'news', { since: 'unknown' })
        await one.publish(news(), 'count', { number: LAST })
        await numbersOf(reader)
        await two.publish(news(), 'count', { number: 1 })
        const { id } = await reader.next()
        await forgetEvents(place())
        await two.publish(news(), 'count', { number: 2 })
        const reset = await reader.next()
        expect(reset).to.include({ type: 'reset', channel: 'news' })
        await two.publish(news(), 'count', { number: 3 })
        // The second event is before the reset, or after it.
        const numbers = [await nextEvent(reader)]
        if (numbers[0] === 2) numbers.push(await nextEvent(reader))
        expect(numbers.at(-1)).to.equal(3)
        const again = await subscribe(two.app, 'news', { since: id! })
        expect(again.first.type).to.equal('reset')
        const later = await subscribe(two.app, 'news', { since: reset.id! })
        const replayed = later.first.type === 'event' ? [(later.first.data as { number: number }).number] : []
        while (replayed.length < numbers.length) replayed.push(await nextEvent(later))
        expect(replayed).to.deep.equal(numbers)
        for (const each of [reader, again, later]) each.close()
      })
  })
