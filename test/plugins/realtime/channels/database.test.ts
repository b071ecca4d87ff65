import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { App } from 'mortar'
import { IsNull } from 'typeorm'
import { subscribe } from '@mortar/realtime/channels/testing'
import { SPARE } from '../../../../plugins/realtime/channels/engine.ts'
import { engineApp, ENGINES } from './engines.ts'
import { nextEvent } from './numbers.ts'
import news from './files/news.ts'
import rooms from './files/rooms/[id].ts'

for (const kind of ['SQLite', 'PostgreSQL', 'MariaDB'])
  describe(`The tables of channels: ${kind}`, () => {
    const place = ENGINES[kind]!()
    const opened: Pick<App, 'close'>[] = []
    const listen = async (app: Pick<App, 'close' | 'listen'>): Promise<void> => {
      opened.unshift(app)
      await app.listen(0, '127.0.0.1')
    }
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((app) => app.close()))
    })

    it('stop the start in production while they are missing, and work elsewhere once they are made', async () => {
      const settings = { environment: 'production', appUrl: 'https://a.example' } as const
      const refused = engineApp(place(), {}, { ...settings, synchronize: false })
      const error = await refused.app.ready().catch((thrown: unknown) => thrown)
      expect(error).to.include({ code: 'MORTAR_CHANNELS_TABLE' })
      const { app } = engineApp(place(), {}, { synchronize: false })
      await listen(app)
      await app.services.db.synchronize()
      const { publish } = app.services.channels
      await publish(news(), 'count', { number: 1 })
      const reader = await subscribe(app, 'news')
      await publish(news(), 'count', { number: 2 })
      while ((await nextEvent(reader)) !== 2);
      reader.close()
    })

    it('do not show the users of a process that is dead, although its rows are still there', async () => {
      const { app } = engineApp(place())
      await listen(app)
      const { db, channels } = app.services
      const members = db.getRepository('mortar_channel_members')
      const row = { channel: 'rooms/1', process: 'other' }
      await members.insert([
        { ...row, user_id: 'ada', expires_at: Date.now() + 60_000 },
        { ...row, user_id: 'bob', expires_at: Date.now() - 1000 },
      ])
      expect(await channels.present(rooms({ id: '1' }))).to.deep.equal(['ada'])
    })

    it('let clients load their state again after the restore of a backup, although their numbers are given again', async () => {
      const { app } = engineApp(place())
      await listen(app)
      const { db, channels } = app.services
      const table = db.getRepository('mortar_channel_events')
      const count = async (number: number) => {
        await channels.publish(news(), 'count', { number })
        while ((await table.countBy({ seq: IsNull() })) > 0) await wait(5)
      }
      const reader = await subscribe(app, 'news')
      for (const number of [1, 2, 3]) await count(number)
      for (const number of [1, 2, 3]) expect(await nextEvent(reader)).to.equal(number)
      const since = reader.lastId!
      await table.delete({ seq: 3 })
      await table.update('counter', { seq: 2 })
      for (const number of [4, 5]) {
        await count(number)
        const again = await subscribe(app, 'news', { since })
        // A process that has not read the counter since then reports it right after the subscription.
        const told = again.first.type === 'subscribed' ? await again.next() : again.first
        expect(told.type, String(number)).to.equal('reset')
        again.close()
      }
      reader.close()
    })

    it('have times that never fall, although the clock of the database goes back', async () => {
      const { app } = engineApp(place())
      await app.ready()
      opened.unshift(app)
      const { db } = app.services
      const { databaseEngine } = await import('../../../../plugins/realtime/channels/database-engine.ts')
      const engine = databaseEngine({ db } as never)
      const { at } = await engine.open()
      const before = Date.now() + 3_600_000
      await db.getRepository('mortar_channel_events').update('counter', { published_at: before })
      await engine.publish({ channel: 'news', event: 'count', data: '1', keep: 1000 })
      const { events, time } = await engine.read({ at, time: before })
      expect(events.map((event) => event.time)).to.deep.equal([before])
      expect(time).to.equal(before)
    })

    it('are read four times a second on a connection that waits 30 s for the first time, then 2 s', async () => {
      const { app } = engineApp(place())
      await listen(app)
      const { db } = app.services
      let deadline = (): number => 0
      const sideConnections = {
        open(_db: unknown, options: { deadline: () => number }) {
          ;({ deadline } = options)
          const query = async (text: string, values: unknown[]) => ({ records: await db.query(text, values) })
          return { query, close: () => undefined }
        },
      }
      const { databaseEngine } = await import('../../../../plugins/realtime/channels/database-engine.ts')
      const engine = databaseEngine({ db, sideConnections } as never)
      expect([engine.pause, deadline()]).to.deep.equal([250, 30_000])
      await engine.read({ at: 0, time: 0 })
      expect(deadline()).to.equal(2000)
    })

    it('have no events after their time', async () => {
      const { app } = engineApp(place())
      await listen(app)
      const { db, channels } = app.services
      await channels.publish(news(), 'count', { number: 1 })
      const rows = () => db.getRepository('mortar_channel_events').find()
      while ((await rows()).some((row) => row['seq'] === null)) await wait(20)
      expect(await rows()).to.have.length(2)
      await db.getRepository('mortar_channel_events').update({ channel: 'news' }, { expires_at: 1 })
      const { databaseEngine } = await import('../../../../plugins/realtime/channels/database-engine.ts')
      const engine = databaseEngine({ db } as never)
      await engine.enter([
        { channel: 'rooms/1', user: 'ada' },
        { channel: 'rooms/1', user: 'gone' },
      ])
      const members = db.getRepository('mortar_channel_members')
      await members.update({ user_id: 'gone' }, { expires_at: 1 })
      // An event without a number has no time yet.
      await engine.publish({ channel: 'rooms/1', event: 'count', data: '1', keep: 1000 })
      await engine.tidy!()
      expect((await rows()).map(({ channel }) => channel as string)).to.have.members(['', 'rooms/1'])
      expect((await members.find()).map(({ user_id: user }) => user as string)).to.deep.equal(['ada'])
    })

    // SQLite has one writer.
    if (kind !== 'SQLite')
      it('get numbers, and are deleted, while a transaction is open that has published, and no publication waits', async () => {
        const { app } = engineApp(place())
        await app.ready()
        opened.unshift(app)
        const { db } = app.services
        const { databaseEngine } = await import('../../../../plugins/realtime/channels/database-engine.ts')
        const engine = databaseEngine({ db } as never)
        const first = await engine.open()
        const event = { channel: 'news', event: 'count', data: '1', keep: -SPARE }
        // Most rows of the table: MariaDB would look at all of them, and wait for the lock of each.
        await Promise.all(Array.from({ length: 150 }, () => engine.publish(event)))
        const table = db.getRepository('mortar_channel_events')
        await db.transaction(async (tx) => {
          await engine.publish(event, { tx: tx as never })
          expect((await engine.read(first)).events).to.have.length(150)
          await engine.tidy!()
          expect(await table.count()).to.equal(1)
          await databaseEngine({ db } as never).publish(event)
        })
        expect(await table.count()).to.equal(1 + 2)
      })
  })
