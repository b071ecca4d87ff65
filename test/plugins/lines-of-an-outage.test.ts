import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect } from 'chai'
import { createApp, routerFor } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as authTables from '@mortar/auth/basic/schema'
import { database } from '@mortar/database'
import { jobs } from '@mortar/jobs'
import * as jobTables from '@mortar/jobs/schema'
import { limits } from '@mortar/limits'
import * as limitTables from '@mortar/limits/schema'
import { loggerTo } from '../app/recorder.ts'
import { DIRECTORY } from './jobs/applications.ts'

type Fields = Readonly<Record<string, unknown>>

/** Errors of drivers, in the order in which one cause brings them about. */
const CAUSES: Readonly<Record<string, readonly Error[]>> = {
  'a server that refuses connections': [
    new Error('Connection terminated unexpectedly'),
    Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }),
    refused('127.0.0.1'),
    Object.assign(new AggregateError([refused('::1'), refused('127.0.0.1')], ''), { code: 'ECONNREFUSED' }),
  ],
  'a network that is silent': [
    new Error('The database has not answered for 30 s.'),
    new Error('timeout exceeded when trying to connect'),
    Object.assign(new Error('read ETIMEDOUT'), { code: 'ETIMEDOUT' }),
    new Error('The database has not answered within 3 s.'),
  ],
  'a server that accepts no writes': [
    Object.assign(new Error('cannot execute INSERT in a read-only transaction'), { code: '25006' }),
    Object.assign(new Error('cannot execute UPDATE in a read-only transaction'), { code: '25006' }),
    Object.assign(new Error('cannot execute DELETE in a read-only transaction'), { code: '25006' }),
  ],
  'a server with too many connections': [
    Object.assign(new Error('sorry, too many clients already'), { code: '53300' }),
    new Error('No database connection became free within 5 s.'),
    Object.assign(new Error('remaining connection slots are reserved'), { code: '53300' }),
  ],
  'a full disk': [
    Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }),
    Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' }),
  ],
}

function refused(address: string): Error {
  const error = new Error(`connect ECONNREFUSED ${address}:5432`)
  return Object.assign(error, { code: 'ECONNREFUSED', address, port: 5432 })
}

describe('The log of an application whose database is away', () => {
  const directory = mkdtempSync(join(tmpdir(), 'mortar-outage-'))
  const realNow = performance.now
  const probe = new Database(':memory:').prepare('select 1')
  const statements = Object.getPrototypeOf(probe) as Record<
    'all' | 'get' | 'run',
    (...given: unknown[]) => unknown
  >
  const real = { all: statements.all, get: statements.get, run: statements.run }
  const start = Date.now()
  const realTimeout = setTimeout
  let ahead = 0
  let failures: readonly Error[] = []
  let count = 0
  const lines: {
    readonly at: number
    readonly level: string
    readonly fields: Fields
    readonly text: string
  }[] = []
  const logger = loggerTo((level, given) => {
    const [fields, text] = typeof given[0] === 'string' ? [{}, given[0]] : given
    lines.push({ at: ahead / 1000, level, fields: fields as Fields, text: String(text) })
  })
  const app = createApp({
    environment: 'development',
    logger,
    signals: false,
    logRequests: false,
    clock: { now: () => start + ahead },
  })
    .use(
      database({
        type: 'better-sqlite3',
        database: join(directory, 'app.db'),
        entities: { ...authTables, ...jobTables, ...limitTables },
        synchronize: true,
      } as never),
    )
    .use(limits({ store: 'database' }))
    .use(auth(basicAuth({ secret: 'x'.repeat(43) })))
    .use(jobs({ directory: DIRECTORY }))
  app.use(
    routerFor<typeof app>()
      .get('/rows', (ctx) => ctx.db.query('select 1 as one'))
      .get('/limited', { limit: { limit: 10_000, window: '1m', by: 'ip' } }, () => 'in')
      .get('/guarded', { auth: true }, () => 'in'),
  )

  before(async () => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    performance.now = () => realNow.call(performance) + ahead
    for (const name of ['all', 'get', 'run'] as const)
      statements[name] = function broken(this: unknown, ...given) {
        if (failures.length > 0) throw failures[count++ % failures.length]!
        return real[name].apply(this, given)
      }
    await during(app.ready())
  })

  after(async () => {
    await during(app.close())
    Object.assign(statements, real)
    performance.now = realNow
    mock.timers.reset()
    rmSync(directory, { recursive: true })
  })

  function pass(milliseconds: number): void {
    ahead += milliseconds
    mock.timers.tick(milliseconds)
  }

  /** Lets the fake time pass until a promise settles. */
  async function during<T>(work: Promise<T>): Promise<T> {
    const late = Symbol('late')
    const soon = () =>
      new Promise<typeof late>((resolve) => {
        realTimeout(resolve, 1, late)
      })
    for (;;) {
      const first = await Promise.race([work, soon()])
      if (first !== late) return first
      pass(1)
    }
  }

  async function signUp(): Promise<string> {
    const user = { name: 'Ada', email: `${ahead}@example.com`, password: 'correct horse battery' }
    const response = await during(app.inject({ method: 'POST', url: '/auth/signup', payload: user }))
    return `Bearer ${response.json<{ accessToken: string }>().accessToken}`
  }

  /** Sends requests every five seconds. @returns the statuses. */
  async function serve(seconds: number, authorization: string): Promise<readonly number[]> {
    const statuses = new Set<number>()
    for (let second = 0; second < seconds; second += 1) {
      await quiet(1)
      if (second % 5 > 0) continue
      const asked = [
        app.inject('/readyz'),
        app.inject('/rows'),
        app.inject('/limited'),
        app.inject({ method: 'GET', url: '/guarded', headers: { authorization } }),
      ]
      for (const { statusCode } of await during(Promise.all(asked))) statuses.add(statusCode)
    }
    return [...statuses].toSorted((one, other) => one - other)
  }

  async function quiet(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      pass(1000)
      for (let turns = 0; turns < 20; turns += 1) await turn()
    }
  }

  for (const [cause, errors] of Object.entries(CAUSES))
    it(`has at most three lines in any minute, and one line when it is back: ${cause}`, async () => {
      await quiet(61)
      const bearer = await signUp()
      lines.splice(0)
      failures = errors
      count = 0
      expect(await serve(75, bearer)).to.deep.equal([200, 503])
      failures = []
      expect(await serve(75, bearer)).to.deep.equal([200])
      const shown = lines.map(({ at, level, text }) => `${Math.round(at)} ${level} ${text}`).join('\n')
      const times = lines.filter(({ level }) => level !== 'debug').map(({ at }) => at)
      for (const from of times)
        expect(times.filter((at) => at >= from && at < from + 60).length, shown).to.be.at.most(3)
      const back = lines.filter(({ fields }) => fields['event'] === 'outage.over')
      expect(back.length, shown).to.equal(1)
      expect(back[0]!.fields['back'], shown).to.include.members(['check db', 'jobs', 'limits'])
      const reasons = errors.map(({ message }) => message)
      expect(reasons, shown).to.include(lines[0]!.fields['reason'])
    })
})
