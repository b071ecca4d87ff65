import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { MongoClient, type Db } from 'mongodb'
import { auth } from '@mortar/auth'
import { documentAuth } from '@mortar/auth-document'
import { createFollowerClock, databaseTime } from '../../../../plugins/auth-document/clock.ts'
import { createDocumentStore } from '../../../../plugins/auth-document/store.ts'
import { createEndedSessionFollower } from '../../../../plugins/auth/sessions/ended-session-follower.ts'
import { createEndedSessions } from '../../../../plugins/auth/sessions/ended-sessions.ts'
import { createApp, type Logger } from 'mortar'
import { startMongoServer, type StandIn } from '../../../support/mongo-server/server.ts'
import { Client } from '../support/client.ts'
import { ADA, CHEAP, SECRET } from '../support/world.ts'

const SECOND = 1000
const SKEWS = [0, 5, -5, 20, -20, 60, -60, 3600, -3600]
/** The two programs of a server, and the process that stores the ends of sessions. */
const CLOCKS = ['frontEnd', 'database'] as const

describe('documentAuth on a server whose two programs have different clocks', () => {
  let server: StandIn
  let client: MongoClient
  let db: Db

  beforeEach(async () => {
    server = await startMongoServer()
    client = new MongoClient(`${server.url}/accounts`)
    db = client.db()
  })
  afterEach(async () => {
    await client.close()
    await server.close()
  })

  /** Another process, which reads when it is asked to, six seconds after its last read. */
  const openFollower = async (logger?: Logger) => {
    let moment = 0
    const time = () => moment
    const known = createEndedSessions({ lifetime: 900, store: { hasEnded: async () => false } })
    const reader = createDocumentStore(() => db, { time, ...(logger && { logger }) }).readEnded(1000)!
    const follower = createEndedSessionFollower({
      reader,
      known,
      staleAfter: 3000,
      onChange: () => {},
      onClock: () => {},
      clock: { now: () => Date.now() },
      time,
    })
    await follower.start()
    const look = async () => {
      moment += 6 * SECOND
      await follower.ensureCurrent()
    }
    return { known, look, stop: follower.stop }
  }
  const until = Date.now() + 900 * SECOND

  for (const clock of CLOCKS)
    for (const skew of SKEWS)
      it(`tells other processes of ended sessions with the ${clock} ${skew} s ahead`, async () => {
        server.clocks[clock] = skew * SECOND
        const store = createDocumentStore(() => db)
        const other = await openFollower()
        for (const id of ['first', 'second']) {
          await other.look()
          await store.publishEnded(id, until)
          await other.look()
          expect(other.known.has(id), id).to.equal(true)
        }
        other.stop()
      })

  for (const step of [-3600, -20, 20, 3600])
    it(`tells other processes of ended sessions after the database's clock was set by ${step} s`, async () => {
      const store = createDocumentStore(() => db)
      const other = await openFollower()
      await store.publishEnded('before', until)
      await other.look()
      server.clocks.database = step * SECOND
      await store.publishEnded('after', until)
      for (let reads = 0; reads < 20 && !other.known.has('after'); reads++) await other.look()
      expect([other.known.has('before'), other.known.has('after')]).to.deep.equal([true, true])
      other.stop()
    })

  it('reads only the last seconds again', async () => {
    const store = createDocumentStore(() => db)
    await store.publishEnded('old', until)
    const other = await openFollower()
    server.clocks.database = 3600 * SECOND
    for (let reads = 0; reads < 5; reads++) await other.look()
    const since: Date[] = []
    server.faults.listener = (command) => {
      if (command['find'] === 'auth_ended_sessions') since.push(command['filter'].ended_at.$gte)
    }
    await other.look()
    expect(since[0]!.getTime() - Date.now()).to.be.within(3580 * SECOND, 3591 * SECOND)
    other.stop()
  })

  it('waits for a later read no longer than its deadline, however long the first may take', async () => {
    const reader = createDocumentStore(() => db).readEnded(200)!
    await reader.since(0)
    server.faults.isSilent = true
    const began = performance.now()
    expect(await reader.since(0).catch(() => 'late')).to.equal('late')
    expect(performance.now() - began).to.be.below(20_000)
    server.faults.isSilent = false
  })

  it('goes on by the last time while the clock of the database cannot be read', async () => {
    let time = 0
    let isAway = false
    const run = async () => {
      if (isAway) throw new Error('away')
      return { now: new Date(SECOND + time) }
    }
    const clock = createFollowerClock({
      run: run as never,
      source: () => db,
      limit: () => SECOND,
      time: () => time,
    })
    const read = async () => {
      const now = await clock.read()
      await nextTurn()
      return now
    }
    expect(await read()).to.equal(SECOND)
    isAway = true
    time = 5 * SECOND
    expect(await read()).to.equal(SECOND)
    isAway = false
    time = 10 * SECOND
    await read()
    expect(await read()).to.equal(11 * SECOND)
  })

  for (const clock of CLOCKS)
    for (const skew of [20, -60, 3600])
      it(`gives two tabs one successor with the ${clock} ${skew} s ahead`, async () => {
        server.clocks[clock] = skew * SECOND
        const app = createApp({ environment: 'test', logger: false }).use(
          auth(documentAuth({ db, secret: SECRET, cost: CHEAP, limits: false, sendResetEmail: () => {} })),
        )
        const tab = new Client(app)
        await tab.post('/auth/signup', ADA)
        const other = tab.copy()
        const statuses = [await tab.post('/auth/refresh'), await other.post('/auth/refresh')]
        expect(statuses.map(({ status }) => status)).to.deep.equal([200, 200])
        expect(other.refreshToken).to.equal(tab.refreshToken)
        await app.close()
      })

  for (const [clock, of, direction] of [
    ['frontEnd', "the database's front end", 1],
    ['database', 'this process', -1],
  ] as const)
    for (const skew of SKEWS.slice(1))
      it(`reports once that the ${clock} is ${skew} s ahead, and that it no longer is`, async () => {
        const lines: unknown[][] = []
        const note = (...line: unknown[]) => void lines.push(line)
        server.clocks[clock] = skew * SECOND
        // With the database, the front end moves too: it is one program.
        if (clock === 'database') server.clocks.frontEnd = skew * SECOND
        const other = await openFollower({ warn: note, info: note } as never)
        for (let reads = 0; reads < 3; reads++) await other.look()
        expect(lines.length).to.equal(1)
        const [fields, text] = lines.splice(0)[0] as [{ seconds: number }, string]
        expect(fields.seconds).to.be.closeTo(Math.abs(skew), 2)
        expect(text).to.include(`The clock of ${of} is ${fields.seconds} s `)
        expect(text).to.include(skew * direction > 0 ? 's ahead of the' : 's behind the')
        server.clocks.frontEnd = 0
        server.clocks.database = 0
        for (let reads = 0; reads < 20 && lines.length === 0; reads++) await other.look()
        await other.look()
        expect(lines).to.deep.equal([[`The clock of ${of} agrees with the document database again.`]])
        other.stop()
      })

  it('reports a difference from two seconds on, until it is below one', async () => {
    mock.method(performance, 'now', () => 0)
    const lines: string[] = []
    let [time, own] = [0, 0]
    const clock = createFollowerClock({
      run: (async () => ({ now: new Date(SECOND) })) as never,
      source: () => ({ ...db, command: async () => ({}) }) as never,
      limit: () => SECOND,
      time: () => time,
      now: () => own,
      logger: {
        warn: (_fields: object, text: string) => lines.push(text.slice(0, 45)),
        info: (text: string) => lines.push(text.slice(0, 45)),
      } as never,
    })
    const warning = 'The clock of this process is 2 s '
    for (const [difference, expected] of [
      [1.9, []],
      [2, [`${warning}ahead of the`]],
      [1, []],
      [0.9, ['The clock of this process agrees with the doc']],
      [1.9, []],
      [-2, [`${warning}behind the d`]],
    ] as const) {
      own = SECOND + difference * SECOND
      time += 6 * SECOND
      await clock.read()
      for (let turn = 0; turn < 3; turn++) await nextTurn()
      expect(lines.splice(0), String(difference)).to.deep.equal(expected)
    }
    mock.reset()
  })

  it('warns at the start of an application', async () => {
    server.clocks.frontEnd = 20 * SECOND
    const lines: unknown[] = []
    const note = (...line: unknown[]) => void lines.push(line)
    const logger: Logger = { debug: note, info: note, warn: note, error: note, child: () => logger }
    const app = createApp({ environment: 'test', logger }).use(
      auth(documentAuth({ db, secret: SECRET, cost: CHEAP, sendResetEmail: () => {} })),
    )
    await app.ready()
    expect(JSON.stringify(lines)).to.match(/clock of the database's front end is (19\.\d|20) s ahead/)
    await app.close()
  })
})

describe('The time of a document database', () => {
  it('is read again if another process has stored its document meanwhile', async () => {
    const replies = [Object.assign(new Error('E11000 duplicate key'), { code: 11_000 }), { now: new Date(5) }]
    const run = async () => {
      const reply = replies.shift()
      if (reply instanceof Error) throw reply
      return reply
    }
    expect(await databaseTime(run as never).catch((error: unknown) => error)).to.equal(5)
    expect(replies).to.deep.equal([])
  })
})
