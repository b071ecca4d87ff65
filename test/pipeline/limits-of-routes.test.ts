import { expect } from 'chai'
import { createApp, createRouter, value, type App, type Limiter, type RouteLimit } from 'mortar'
import { limits } from '@mortar/limits'
import { createMemoryLimiter } from '../../src/limits/memory-limiter.ts'
import { TestClock } from '../plugins/auth/support/clock.ts'
import { appOf, limited, PER_MINUTE } from '../support/limited-app.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'

describe('limits of routes', () => {
  it('end with their window', async () => {
    const clock = new TestClock()
    const limiter: Limiter = createMemoryLimiter({ clock })
    const app = createApp({ environment: 'test', logger: false })
      .provide({ limiter: value(limiter) })
      .use(limited({ limit: 1, window: '24h', by: 'ip' }))
    const status = async (): Promise<number> => (await app.inject('/a')).statusCode
    expect([await status(), await status()]).to.deep.equal([200, 429])
    clock.advance(86_399)
    expect(await status()).to.equal(429)
    clock.advance(1)
    expect(await status()).to.equal(200)
    await app.close()
  })

  it('count requests of inject', async () => {
    const app = appOf(limited(PER_MINUTE))
    const found = [await app.inject('/a'), await app.inject('/a'), await app.inject('/a')]
    expect(found.map(({ statusCode }) => statusCode)).to.deep.equal([200, 200, 429])
    await app.close()
  })

  const FAULTS: Record<string, readonly [code: string, build: () => App]> = {
    'no limiter': [
      'MORTAR_LIMIT_MISSING',
      () => createApp({ environment: 'test', logger: false }).use(limited(PER_MINUTE)),
    ],
    'a rule named as a member of every object': ['MORTAR_LIMIT_UNKNOWN', () => appOf(limited('toString'))],
    'an unknown rule': ['MORTAR_LIMIT_UNKNOWN', () => appOf(limited('serch'))],
    "by: 'user' without auth": ['MORTAR_LIMIT_USER', () => appOf(limited({ ...PER_MINUTE, by: 'user' }))],
    "by: 'user' with auth: false": [
      'MORTAR_LIMIT_USER',
      () => appOf(limited({ ...PER_MINUTE, by: 'user' }, { auth: false })),
    ],
  }
  for (const [what, [code, build]] of Object.entries(FAULTS))
    it(`fail the start with ${what}`, async () => {
      const error = await startupErrorOf(() => build().ready())
      expect(error.code).to.equal(code)
      if (what === 'an unknown rule') expect(error.remedy).to.equal("Did you mean 'search'?")
    })

  const MALFORMED: Record<string, [unknown, RegExp]> = {
    zero: [{ ...PER_MINUTE, limit: 0 }, /whole 'limit'/],
    'a negative number': [{ ...PER_MINUTE, limit: -1 }, /whole 'limit'/],
    'a fraction': [{ ...PER_MINUTE, limit: 1.5 }, /whole 'limit'/],
    infinity: [{ ...PER_MINUTE, limit: Number.POSITIVE_INFINITY }, /whole 'limit'/],
    'a string as number': [{ ...PER_MINUTE, limit: '5' }, /whole 'limit'/],
    'a window of zero': [{ ...PER_MINUTE, window: 0 }, /'window'/],
    'a window of 25 days': [{ ...PER_MINUTE, window: '25d' }, /'window'/],
    'no window': [{ limit: 1, by: 'ip' }, /'window'/],
    'no subject': [{ limit: 1, window: '1m' }, /no `by`/],
    'a misspelt subject': [{ ...PER_MINUTE, by: 'usr' }, /Did you mean 'user'/],
    'a key of another framework': [{ ...PER_MINUTE, max: 5 }, /Did you mean "limit"/],
    'a key of another framework in camel case': [
      { ...PER_MINUTE, keyGenerator: String },
      /Did you mean "by"/,
    ],
    'a misspelt key': [{ limit: 1, by: 'ip', windo: '1m' }, /Did you mean "window"/],
    'a number': [5, /not a limit/],
    true: [true, /not a limit/],
    null: [null, /not a limit/],
    'an empty name': [' ', /not a limit/],
    'an empty list': [[], /empty list/],
    'a list in a list': [[[PER_MINUTE]], /limit\[0\]/],
    undefined: [undefined, /undefined/],
  }
  for (const [what, [limit, text]] of Object.entries(MALFORMED))
    it(`refuse ${what}`, async () => {
      const error = await startupErrorOf(() => appOf(limited(limit as RouteLimit)).ready())
      const errors = 'errors' in error ? (error.errors as Error[]) : [error]
      expect(errors.map((each) => (each as { code?: string }).code)).to.include('MORTAR_ROUTE_LIMIT')
      expect(
        errors.map((each) => `${each.message} ${(each as { remedy?: string }).remedy}`).join('\n'),
      ).to.match(text)
    })

  it('refuse a limit without a value also in a router that has one', async () => {
    const router = createRouter({ limit: PER_MINUTE }).get('/', { limit: undefined as never }, () => 1)
    const app = createApp({ environment: 'test', logger: false }).use(limits()).use(router)
    expect((await startupErrorOf(async () => await app.ready())).code).to.equal('MORTAR_ROUTE_LIMIT')
  })

  it('refuse a rule name of more than 64 characters, or with a space or a quote', async () => {
    const start = (name: string) =>
      createApp({ environment: 'test', logger: false }).use(limits({ rules: { [name]: PER_MINUTE } }))
    const longest = start('r'.repeat(64))
    await longest.ready()
    await longest.close()
    for (const name of ['r'.repeat(65), '', '1r', 'r"', 'r r']) {
      const error = await startupErrorOf(async () => await start(name).ready())
      expect([error.code, error.found]).to.eql([
        'MORTAR_LIMITS_OPTION',
        `limits() has the rule name '${name}'.`,
      ])
    }
  })

  const RULE = { limit: 1, window: '1m', by: 'ip' } as const
  const example = "Write { limit: 30, window: '1m', by: 'ip' }."
  const OPTIONS: readonly (readonly [options: object, found: string, remedy?: string])[] = [
    [
      { store: 'mongo' },
      "limits() has the unknown store 'mongo'.",
      "Write 'memory', 'database', 'redis' or an ioredis client.",
    ],
    [{ store: null }, 'The option store of limits() is null, not a string or an object.'],
    [
      { store: {} },
      'limits() has a store that ioredis did not make.',
      'Write store: new Redis(…) from ioredis.',
    ],
    [{ rules: { a: null } }, "limits() has the rule 'a', which is not an object.", example],
    [{ rules: { a: 'ip' } }, "limits() has the rule 'a', which is not an object.", example],
    [
      { rules: { right: RULE, a: { ...RULE, limit: 0 } } },
      "limits() has the rule 'a', which has no whole 'limit' of at least 1.",
      example,
    ],
    [
      { rules: { a: { ...RULE, window: '25d' } } },
      "limits() has the rule 'a', which has no 'window' from '1s' to '24d'.",
      example,
    ],
    [
      { rules: { a: { ...RULE, by: 'host' } } },
      "limits() has the rule 'a' without a valid 'by'.",
      "Write 'ip', 'user', 'credential' or a function.",
    ],
    [{ rules: { a: { ...RULE, burst: 5 } } }, "Unknown option 'burst' of the rule 'a' of limits()."],
    [{ timeout: '25d' }, 'The option timeout of limits() is a string, not seconds above 0'],
  ]
  for (const [options, found, remedy] of OPTIONS)
    it(`refuse an option of the brick: ${found}`, async () => {
      const error = await startupErrorOf(() => limits(options))
      expect(error.found).to.include(found)
      if (remedy !== undefined) expect([error.found, error.remedy]).to.deep.equal([found, remedy])
    })

  it('accept each kind of subject in a rule', () => {
    for (const by of ['ip', 'user', 'credential', () => 'team'] as const)
      expect(limits({ rules: { a: { ...RULE, by } } }).name).to.equal('limits')
  })

  it('are in the OpenAPI document with the headers of a 429', async () => {
    const app = createApp({ environment: 'test', logger: false })
      .use(limits())
      .use(limited(PER_MINUTE))
      .use(createRouter().get('/b', { limit: false }, () => 'ok'))
    const document = (await app.inject('/openapi.json')).json<{
      paths: Record<string, { get: { responses: Record<string, { headers?: object }> } }>
    }>()
    const { responses } = document.paths['/a']!.get
    expect(Object.keys(responses['429']!.headers!)).to.deep.equal([
      'Retry-After',
      'RateLimit',
      'RateLimit-Policy',
    ])
    expect(document.paths['/b']!.get.responses).not.to.have.property('429')
    await app.close()
  })
})
