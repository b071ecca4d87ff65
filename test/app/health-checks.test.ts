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
  let now = 0
  /** Moves the clock on which results grow old. It moves in no other way, however slow the machine is. */
  const advance = (milliseconds: number): void => {
    now += milliseconds
  }
  beforeEach(() => {
    // A whole number, so that sums of milliseconds are exact.
    now = Math.ceil(realNow.call(performance))
    performance.now = () => now
  })
  afterEach(() => {
    performance.now = realNow
  })
  const ready = async (app: App): Promise<{ status: number; body: Record<string, unknown> }> => {
    const { statusCode, body } = await app.inject('/readyz')
    return { status: statusCode, body: JSON.parse(body) as Record<string, unknown> }
  }
  const withCheck = (check: HealthCheck): App =>
    createApp({ logger: false, health: { critical: ['db'] } }).check('db', check)

  it('gets the services and a signal, which does not abort when it passes', async () => {
    let seen: unknown
    let given: AbortSignal | undefined
    const app = createApp().use(
      defineBrick({
        name: 'a',
        services: { pool: singleton(() => ({ size: 3 })) },
        checks: {
          pool: ({ pool }, signal) => {
            seen = [pool.size, signal.aborted]
            given = signal
          },
        },
      }),
    )
    expect((await ready(app)).status).to.equal(200)
    expect(seen).to.deep.equal([3, false])
    expect(given!.aborted).to.equal(false)
    await app.close()
  })

  it('has its last result as a gauge', async () => {
    let isAway = false
    const app = withCheck({ run: () => !isAway, cache: '0ms' })
    await app.ready()
    const read = (): unknown => app.services.gauges.all.get('mortar_health_check')!.read()
    expect(read()).to.deep.equal(new Map())
    // A check that fails in one worker has failed.
    expect(app.services.gauges.all.get('mortar_health_check')).to.have.property('combine', 'min')
    await ready(app)
    expect(read()).to.deep.equal(new Map([['db', 1]]))
    isAway = true
    await ready(app)
    expect(read()).to.deep.equal(new Map([['db', 0]]))
    isAway = false
    await ready(app)
    expect(read()).to.deep.equal(new Map([['db', 1]]))
    await app.close()
    const without = createApp({ logger: false })
    await without.ready()
    expect(without.services.gauges.all.has('mortar_health_check')).to.equal(false)
    await without.close()
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
      timeout: '1h',
      cache: '1500ms',
    })
    const probes = [ready(app), ready(app)]
    await until(async () => runs === 1)
    // A run is never too old to be waited for.
    advance(2000)
    await Promise.all([...probes, ...Array.from({ length: 20 }, () => ready(app))])
    expect(runs).to.equal(1)
    advance(1400)
    await ready(app)
    expect(runs).to.equal(1)
    advance(200)
    await Promise.all([ready(app), ready(app)])
    expect(runs).to.equal(2)
    await app.close()
  })

  it('has a result for five seconds by default', async () => {
    let runs = 0
    const app = withCheck(() => void runs++)
    for (const [milliseconds, expected] of [
      [0, 1],
      [4999, 1],
      [1, 2],
    ] as const) {
      advance(milliseconds)
      await ready(app)
      expect(runs).to.equal(expected)
    }
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

  it('is aborted by close() when its probe has left, with all others', async () => {
    const signals: AbortSignal[] = []
    const waits: HealthCheck = (_services, signal) => {
      signals.push(signal)
      return new Promise<void>(() => {})
    }
    const app = withCheck(waits).check('mail', waits)
    const { url } = await app.listen(0, '127.0.0.1')
    const leaving = new AbortController()
    const probe = fetch(`${url}/readyz`, { signal: leaving.signal }).catch(() => 'left')
    await until(async () => signals.length === 2)
    leaving.abort()
    expect(await probe).to.equal('left')
    await app.close()
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, true])
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
    const late = 'It took longer than 0.02 s.'
    const { status, body } = await ready(app)
    expect([status, body['errors']]).to.deep.equal([503, { db: late }])
    expect([signals[0]!.aborted, (signals[0]!.reason as Error).message]).to.deep.equal([true, late])
    expect((await ready(app)).body['failed']).to.deep.equal(['db'])
    expect(runs).to.equal(1)
    settle()
    await until(async () => (await ready(app)).status === 200)
    expect(runs).to.be.greaterThan(1)
    await app.close()
  })

  it('passes with any result but false, which has a reason of its own', async () => {
    const results: readonly unknown[] = [
      undefined,
      null,
      0,
      '',
      true,
      Promise.resolve(),
      Promise.resolve(false),
    ]
    const bodies = []
    for (const result of [...results, false]) {
      const app = withCheck(() => result)
      bodies.push((await ready(app)).body['errors'])
      await app.close()
    }
    const wrong = { db: 'The check returned false.' }
    expect(bodies).to.deep.equal([...Array.from({ length: 6 }, () => undefined), wrong, wrong])
  })

  it('is named in the order of the bricks, before those of the application', async () => {
    const app = createApp({ logger: false, health: { critical: ['own', 'b', 'a'] } })
      .check('own', fails)
      .use(defineBrick({ name: 'one', checks: { b: fails, a: fails } }))
      .check('rest', fails)
    const { body } = await ready(app)
    expect(body['failed']).to.deep.equal(['b', 'a', 'own'])
    expect(Object.keys(body['checks'] as object)).to.deep.equal(['b', 'a', 'own', 'rest'])
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

  it('has a word as its name, in letters of either case', async () => {
    const names = ['db', 'DB', 'mailServer', 'mail-server_2']
    const app = createApp({ logger: false, health: { critical: ['DB'] } })
    for (const name of names) app.check(name, () => false)
    expect((await ready(app)).body).to.deep.include({
      failed: ['DB'],
      checks: Object.fromEntries(names.map((name) => [name, 'failed'])),
    })
    await app.close()
    for (const name of ['2db', '-db', 'd.b', ''])
      expect((await startupErrorOf(() => createApp().check(name, () => true))).code).to.equal('MORTAR_CHECK')
  })

  const wrong: readonly (readonly [string, () => unknown, code: string, message?: string])[] = [
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
    [
      'two checks of one name',
      () => boot({ checks: { own: fails } }),
      'MORTAR_CHECK_DUPLICATE',
      "'own' is registered by the brick 'odd' and the application.",
    ],
    [
      'two checks of one name of the application',
      () => createApp({ logger: false }).check('db', fails).check('db', fails).ready(),
      'MORTAR_CHECK_DUPLICATE',
      "'db' is registered by the application twice.",
    ],
    [
      'a critical name without a check',
      () => critical(['storge'], 'storage'),
      'MORTAR_CHECK_UNKNOWN',
      "Did you mean 'storage'?",
    ],
    [
      'a second critical name without a check',
      () => critical(['db', 'storage'], 'db', 'mail'),
      'MORTAR_CHECK_UNKNOWN',
      'The checks are db, mail.',
    ],
    [
      'a critical name beside one check',
      () => critical(['storage'], 'db'),
      'MORTAR_CHECK_UNKNOWN',
      'The checks are db.',
    ],
    [
      'a critical name, and no check',
      () => critical(['db']),
      'MORTAR_CHECK_UNKNOWN',
      'No check is registered.',
    ],
    ['a value that is not a path', () => createApp({ health: { live: 'livez' } }), 'MORTAR_OPTION'],
    ['an empty path', () => createApp({ health: { live: '' } }), 'MORTAR_OPTION', 'health.live'],
    ['an empty second path', () => createApp({ health: { ready: '' } }), 'MORTAR_OPTION', 'health.ready'],
    ['a path with a slash at its end', () => createApp({ health: { live: '/up/' } }), 'MORTAR_OPTION'],
    ['a path with a query', () => createApp({ health: { ready: '/up?a' } }), 'MORTAR_OPTION'],
    ['a path equal to a default', () => createApp({ health: { live: '/readyz' } }), 'MORTAR_OPTION'],
    ['equal paths', () => createApp({ health: { live: '/a', ready: '/a' } }), 'MORTAR_OPTION'],
    ['an unknown option', () => createApp({ health: { path: '/a' } as never }), 'MORTAR_OPTION_UNKNOWN'],
  ]
  for (const [name, work, code, text = ''] of wrong)
    it(`is refused at the start: ${name}`, async () => {
      const error = await startupErrorOf(work)
      expect(error.code).to.equal(code)
      expect(`${error.message} ${error.remedy}`).to.contain(text)
    })

  it('cannot be added after the start', async () => {
    const app = await createApp().ready()
    expect((await startupErrorOf(() => app.check('db', fails))).code).to.equal('MORTAR_TOO_LATE')
    await app.close()
  })
})

function critical(names: readonly string[], ...checks: readonly string[]): Promise<unknown> {
  const app = createApp({ logger: false, health: { critical: names } })
  for (const name of checks) app.check(name, fails)
  return app.ready()
}

function boot(slots: object): Promise<unknown> {
  return createApp({ logger: false })
    .check('own', fails)
    .use(defineBrick({ name: 'odd', ...slots }))
    .ready()
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(5)
}
