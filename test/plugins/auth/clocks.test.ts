import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import { documentAuth } from '@mortar/auth-document'
import * as schema from '@mortar/auth/basic/schema'
import type { AuthProvider } from '../../../plugins/auth/provider.ts'
import { createApp, type Clock } from 'mortar'
import { systemClock } from 'mortar/kit'
import { createClock } from 'mortar/testing'
import { KINDS } from '../database/databases.ts'
import { MONGO_TARGETS, openDatabase } from '../../support/mongo.ts'
import { createRotationClock } from '../../../plugins/auth/tokens/rotation-clock.ts'
import { Client } from './support/client.ts'
import { ADA, CHEAP, SECRET } from './support/world.ts'

const OPTIONS = { secret: SECRET, cost: CHEAP, limits: false, sendResetEmail: () => {} } as const
/** Runs in whatever time zone and summer time: all databases are asked in UTC. */
const AHEAD: Clock = { now: () => Date.now() + 60_000 }
const BEHIND: Clock = { now: () => Date.now() - 60_000 }

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`Processes whose clocks are a minute apart, on ${kind}`, () => {
    const place = prepare()
    agreeOnRotations(async () => {
      const source = await place().open(schema)
      await source.synchronize()
      return { provider: () => basicAuth({ ...OPTIONS, db: source }), close: async () => {} }
    })
  })

describe('A database whose answers are long under way', () => {
  const place = KINDS['SQLite']!()

  it('does not make a token two generations old look as if its request had come before the rotation', async () => {
    const source = await place().open(schema)
    await source.synchronize()
    delayFirstReading(source)
    const app = createApp({ environment: 'test', logger: false }).use(
      auth(basicAuth({ ...OPTIONS, db: source })),
    )
    const client = new Client(app)
    await client.post('/auth/signup', ADA)
    const old = client.copy()
    for (let generation = 0; generation < 2; generation++) await client.post('/auth/refresh')
    expect((await old.post('/auth/refresh')).status).to.equal(401)
    await app.close()
  })
})

/** The first reading of the database's clock arrives a quarter of a second late. */
function delayFirstReading(source: DataSource): void {
  let isFirst = true
  const create = source.createQueryRunner.bind(source)
  source.createQueryRunner = (mode) => {
    const runner = create(mode)
    const query = runner.query.bind(runner) as (sql: string, ...rest: unknown[]) => Promise<unknown>
    runner.query = (async (sql: string, ...rest: unknown[]) => {
      const result = await query(sql, ...rest)
      if (isFirst && sql.endsWith(' as now_ms')) {
        isFirst = false
        await pause(250)
      }
      return result
    }) as typeof runner.query
    return runner
  }
}

for (const target of MONGO_TARGETS)
  describe(`Processes whose clocks are a minute apart, on a document database, ${target.name}`, () => {
    agreeOnRotations(async () => {
      const server = await target.start()
      const { db, close } = await openDatabase(server)
      return {
        provider: () => documentAuth({ ...OPTIONS, db }),
        close: async () => {
          await close()
          await server.close()
        },
      }
    })
  })

interface Place {
  readonly provider: () => AuthProvider
  close(): Promise<void>
}

function agreeOnRotations(open: () => Promise<Place>): void {
  const within = async (clocks: Clock[], body: (clients: Client[]) => Promise<void>) => {
    const place = await open()
    const apps = clocks.map((clock) =>
      createApp({ environment: 'test', logger: false, clock }).use(auth(place.provider())),
    )
    try {
      for (const app of apps) await app.ready()
      const first = new Client(apps[0]!)
      expect((await first.post('/auth/signup', ADA)).status).to.equal(201)
      await body([first, ...apps.slice(1).map((app) => first.copy(app))])
    } finally {
      for (const app of apps) await app.close()
      await place.close()
    }
  }
  const expectOneSuccessor = async ([one, other]: Client[]) => {
    expect((await one!.post('/auth/refresh')).status).to.equal(200)
    expect((await other!.post('/auth/refresh')).status).to.equal(200)
    expect(other!.refreshToken).to.equal(one!.refreshToken)
  }

  it('give one successor for a token that both are shown', () =>
    within([AHEAD, systemClock], expectOneSuccessor))
  it('and the other way round', () => within([systemClock, AHEAD], expectOneSuccessor))
  it('accept the access tokens of each other', () =>
    within([AHEAD, BEHIND], async ([one, other]) => {
      expect((await other!.get('/auth/me')).status).to.equal(200)
      await other!.post('/auth/refresh')
      one!.accessToken = other!.accessToken
      expect((await one!.get('/auth/me')).status).to.equal(200)
    }))
  it('end the session by a token two generations old', () =>
    within([systemClock, AHEAD], async ([one, other]) => {
      await one!.post('/auth/refresh')
      await one!.post('/auth/refresh')
      expect((await other!.post('/auth/refresh')).status).to.equal(401)
      expect((await one!.post('/auth/refresh')).status).to.equal(401)
    }))
  it('have a grace time of ten seconds by a clock that a test moves on', async () => {
    const [slow, fast] = [createClock(), createClock(Date.now() + 60_000)]
    // Their first use is now, not when the applications start one after the other, which may take a second.
    for (const clock of [slow, fast]) createRotationClock(clock, { now: async () => 0 })
    await within([slow, fast], async ([one, other]) => {
      await one!.post('/auth/refresh')
      slow.advance(9)
      fast.advance(9)
      expect((await other!.copy().post('/auth/refresh')).status).to.equal(200)
      slow.advance(2)
      fast.advance(2)
      expect((await other!.post('/auth/refresh')).status).to.equal(401)
    })
  })
}
