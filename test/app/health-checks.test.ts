import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, defineBrick, singleton, type App, type HealthCheck } from 'mortar'
import { recorder } from './recorder.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'

const fails = (): never => {
  throw new Error('refused')
}

describe('A health check', () => {
  const realNow = performance.now
  let ahead = 0
  /** Moves the clock on which results grow old. */
  const advance = (milliseconds: number): void => {
    ahead += milliseconds
    performance.now = () => realNow.call(performance) + ahead
  }
  afterEach(() => {
    performance.now = realNow
    ahead = 0
  })
  const ready = async (app: App): Promise<{ status: number; body: Record<string, unknown> }> => {
    const { statusCode, body } = await app.inject('/readyz')
    return { status: statusCode, body: JSON.parse(body) as Record<string, unknown> }
  }
  const withCheck = (check: HealthCheck): App =>
    createApp({ logger: false, health: { critical: ['db'] } }).check('db', check)

  it('gets the services and a signal', async () => {
    let seen: unknown
    const app = createApp().use(
      defineBrick({
        name: 'a',
        services: { pool: singleton(() => ({ size: 3 })) },
        checks: { pool: ({ pool }, signal) => void (seen = [pool.size, signal.aborted]) },
      }),
    )
    expect((await ready(app)).status).to.equal(200)
    expect(seen).to.deep.equal([3, false])
    await app.close()
  })

  it('has its last result as a gauge', async () => {
    let isAway = false
    const app = withCheck({ run: () => !isAway, cache: '0ms' })
    await app.ready()
    const read = (): unknown => app.services.gauges.all.get('mortar_health_check')!.read()
    expect(read()).to.deep.equal(new Map())
    await ready(app)
    expect(read()).to.deep.equal(new Map([['db', 1]]))
    isAway = true
    await ready(app)
    expect(read()).to.deep.equal(new Map([['db', 0]]))
    isAway = false
    await ready(app)
    expect(read()).to.deep.equal(new Map([['db', 1]]))
    await app.close()
  })

  it('runs once for any number of probes, and again when its result is old', async () => {
    let runs = 0
    const app = withCheck({
      run: async () => {
        runs += 1
        await wait(20)
        // The result is fresh from its end on.
        advance(1000)
      },
      cache: '1500ms',
    })
    await Promise.all(Array.from({ length: 20 }, () => ready(app)))
    expect(runs).to.equal(1)
    advance(1400)
    await ready(app)
    expect(runs).to.equal(1)
    advance(200)
    await Promise.all([ready(app), ready(app)])
    expect(runs).to.equal(2)
    await app.close()
  })

  it('may run again 30 s after the begin of a run that ignores its signal', async () => {
    let runs = 0
    const never = new Promise<void>(() => {})
    const app = withCheck({
      run: () => {
        runs += 1
        return never
      },
      timeout: '20ms',
      cache: 0,
    })
    for (const [milliseconds, expected] of [
      [0, 1],
      [29_000, 1],
      [1_100, 2],
      [0, 2],
    ] as const) {
      advance(milliseconds)
      expect((await ready(app)).status).to.equal(503)
      expect(runs).to.equal(expected)
    }
    await app.close()
  })

  it('reports draining if close() began while it ran', async () => {
    let finish: (() => void) | undefined
    const app = withCheck(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve
        }),
    )
    const probe = ready(app)
    await until(async () => finish !== undefined)
    const closing = app.close()
    finish!()
    expect(await probe).to.deep.equal({ status: 503, body: { status: 'draining', failed: [] } })
    await closing
  })

  it('is aborted by close() when its probe has left', async () => {
    let signal: AbortSignal | undefined
    const app = withCheck((_services, given) => {
      signal = given
      return new Promise<void>(() => {})
    })
    const { url } = await app.listen(0, '127.0.0.1')
    const leaving = new AbortController()
    const probe = fetch(`${url}/readyz`, { signal: leaving.signal }).catch(() => 'left')
    await until(async () => signal !== undefined)
    leaving.abort()
    expect(await probe).to.equal('left')
    await app.close()
    expect(signal!.aborted).to.equal(true)
  })

  it('runs beside the others', async () => {
    let open = 0
    let most = 0
    const both = async (): Promise<void> => {
      most = Math.max(most, (open += 1))
      await wait(20)
      open -= 1
    }
    const app = createApp().check('a', both).check('b', both)
    await ready(app)
    expect(most).to.equal(2)
    await app.close()
  })

  it('fails after its timeout, aborts its signal, and has one run as long as that run is active', async () => {
    let runs = 0
    const signals: AbortSignal[] = []
    let settle!: () => void
    const app = withCheck({
      run: (_services, signal) => {
        runs += 1
        signals.push(signal)
        if (runs > 1) return undefined
        return new Promise<void>((resolve) => {
          settle = resolve
        })
      },
      timeout: '20ms',
      cache: 0,
    })
    expect((await ready(app)).status).to.equal(503)
    expect(signals[0]!.aborted).to.equal(true)
    expect((await ready(app)).body['failed']).to.deep.equal(['db'])
    expect(runs).to.equal(1)
    settle()
    await until(async () => (await ready(app)).status === 200)
    expect(runs).to.be.greaterThan(1)
    await app.close()
  })

  it('is logged when its result changes, not at every probe', async () => {
    const lines: string[] = []
    let isUp = false
    const app = createApp({ logger: recorder(lines) }).check('db', { run: () => isUp, cache: 0 })
    for (let probe = 0; probe < 3; probe++) await ready(app)
    isUp = true
    for (let probe = 0; probe < 3; probe++) await ready(app)
    const own = lines.filter((line) => line.includes("The check 'db' failed") || line.includes('check db'))
    expect(own.map((line) => line.split(' ')[0])).to.deep.equal(['warn', 'info'])
    expect(own[1]).to.include('Works again: check db.')
    await app.close()
  })

  const wrong: readonly (readonly [string, () => unknown, string])[] = [
    ['a name that is not a word', () => createApp().check('a b', fails), 'MORTAR_CHECK'],
    ['a check without a function', () => createApp().check('db', {} as never), 'MORTAR_CHECK'],
    ['a value that is not a check', () => createApp().check('db', 5 as never), 'MORTAR_CHECK'],
    ['an unknown key', () => createApp().check('db', { run: fails, every: 5 } as never), 'MORTAR_CHECK'],
    [
      'a timeout in milliseconds',
      () => createApp().check('db', { run: fails, timeout: 5000 }),
      'MORTAR_CHECK',
    ],
    ['a timeout of 0', () => createApp().check('db', { run: fails, timeout: 0 }), 'MORTAR_CHECK'],
    [
      'a cache that cannot be read',
      () => createApp().check('db', { run: fails, cache: 'x' }),
      'MORTAR_CHECK',
    ],
    ['a wrong check of a brick', () => boot({ checks: { db: 5 as never } }), 'MORTAR_CHECK'],
    ['checks that are not an object', () => boot({ checks: [] as never }), 'MORTAR_BRICK_SHAPE'],
    ['two checks of one name', () => boot({ checks: { own: fails } }), 'MORTAR_CHECK_DUPLICATE'],
    [
      'a critical name without a check',
      () =>
        createApp({ health: { critical: ['bd'] } })
          .check('db', fails)
          .ready(),
      'MORTAR_CHECK_UNKNOWN',
    ],
    ['a value that is not a path', () => createApp({ health: { live: 'livez' } }), 'MORTAR_OPTION'],
    ['equal paths', () => createApp({ health: { live: '/a', ready: '/a' } }), 'MORTAR_OPTION'],
    ['an unknown option', () => createApp({ health: { path: '/a' } as never }), 'MORTAR_OPTION_UNKNOWN'],
  ]
  for (const [name, work, code] of wrong)
    it(`is refused at the start: ${name}`, async () => {
      expect((await startupErrorOf(work)).code).to.equal(code)
    })

  it('cannot be added after the start', async () => {
    const app = await createApp().ready()
    expect((await startupErrorOf(() => app.check('db', fails))).code).to.equal('MORTAR_TOO_LATE')
    await app.close()
  })
})

function boot(slots: object): Promise<unknown> {
  return createApp({ logger: false })
    .check('own', fails)
    .use(defineBrick({ name: 'odd', ...slots }))
    .ready()
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(5)
}
