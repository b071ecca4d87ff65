import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as accounts from '@mortar/auth/basic/schema'
import { type AnyBrick, type BrickCommandInput, createApp, createRouter, type Limiter } from 'mortar'
import { database } from '@mortar/database'
import { limits, type LimitsOptions } from '@mortar/limits'
import { MortarLimits } from '@mortar/limits/schema'
import { redis } from '@mortar/redis'
import { startupErrorOf } from '../../support/startup-error-of.ts'
import { serverUrl } from '../../support/servers.ts'
import { tokens } from '../../support/tokens-brick.ts'
import { KINDS } from '../database/databases.ts'

const RULES = { search: { limit: 3, window: '1h', by: 'ip' } } as const

interface Shown {
  readonly limits: { name: string; used: number; limit: number; window: number; resetIn: number }[]
}

/** An application with a rule, a limit of a route, and the commands of its brick. */
function commandsOf(store: LimitsOptions['store'], ...others: readonly AnyBrick[]) {
  const brick = limits({ store, rules: RULES } as LimitsOptions<'search'>)
  let app = createApp({ environment: 'test', logger: false, trustProxy: ['127.0.0.1'] })
  for (const each of [...others, brick]) app = app.use(each)
  const by = (ctx: { headers: Readonly<Record<string, unknown>> }) => String(ctx.headers['x-team'])
  app.use(
    createRouter()
      .get('/search', { limit: 'search' }, () => [])
      .get('/find', { limit: 'search' }, () => [])
      .get('/teams', { limit: { limit: 9, window: '1m', by } }, () => []),
  )
  const run = async (name: string, values: BrickCommandInput['values'], positionals: string[] = []) =>
    brick.commands![name]!.run({ values, positionals }, app.services)
  return {
    app,
    run,
    show: async (values: BrickCommandInput['values']) => ((await run('show', values)).json as Shown).limits,
  }
}

function commandsSuite(open: () => ReturnType<typeof commandsOf>): void {
  it('show the counts of a client, and reset them', async () => {
    const { app, run, show } = open()
    await app.ready()
    try {
      // Of this run alone, in a store that others use too.
      const ip = `2001:db8:${(process.pid % 65_536).toString(16)}:${(Date.now() % 65_536).toString(16)}::1`
      const statuses = async () => {
        const headers = { 'x-forwarded-for': ip, 'x-team': ip }
        const urls = ['/search', '/find', '/search', '/search', '/teams']
        const responses = []
        for (const url of urls) responses.push(await app.inject({ url, headers, remoteAddress: '127.0.0.1' }))
        return responses.map(({ statusCode }) => statusCode)
      }
      expect((await show({ ip })).map(({ used }) => used)).to.deep.equal([0])
      expect(await statuses()).to.deep.equal([200, 200, 200, 429, 200])
      const [search, ...more] = await show({ ip: ip.replace('::1', '::2') })
      expect(more).to.deep.equal([])
      expect(search).to.include({ name: 'search', used: 4, limit: 3, window: 3600 })
      expect(search!.resetIn).to.be.within(3000, 3600)
      expect((await run('show', { ip })).text).to.match(
        /^search +4 of 3 +in 3600 s +reset in \d+ s +exhausted$/,
      )
      expect(await show({ key: ip })).to.have.lengthOf(1)
      expect((await run('clear', { ip })).json).to.deep.equal({ cleared: ['search'] })
      expect((await run('clear', { ip })).text).to.equal('No limit counts this client.')
      expect((await show({ key: ip }))[0]).to.include({ name: 'GET /teams custom-60s', used: 1 })
      expect(await statuses()).to.deep.equal([200, 200, 200, 429, 200])
      await app.container.resolve<Limiter>('limiter').consume(`invite:${ip}`, { limit: 2, window: '1d' })
      const own = { key: `invite:${ip}`, limit: '2', window: '1d' }
      expect((await show(own))[0]).to.include({ used: 1, window: 86_400 })
      expect((await run('show', own)).text).to.match(/ 1 of 2 .* s$/)
      await app.container.resolve<Limiter>('limiter').consume(own.key, { limit: 2, window: '1d' })
      expect((await run('show', own)).text).to.match(/ 2 of 2 .* s +exhausted$/)
      await run('clear', own)
      expect((await show(own))[0]).to.include({ used: 0, resetIn: 0 })
    } finally {
      await app.close()
    }
  })
}

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`The commands of mortar limits, ${kind}`, () => {
    const place = prepare()
    commandsSuite(() =>
      commandsOf('database', database({ ...place().options([MortarLimits]), synchronize: true })),
    )
  })

describe('The commands of mortar limits, Redis', () => {
  const url = serverUrl('TEST_REDIS_URL')
  commandsSuite(() => commandsOf('redis', redis({ url })))
})

describe('The commands of mortar limits', () => {
  const place = KINDS['SQLite']!()

  it('find the limits of the sign-in by address, user and session', async () => {
    const entities = [...Object.values(accounts), MortarLimits].filter((each) => typeof each === 'object')
    const { app, run, show } = commandsOf(
      'database',
      database({ ...place().options(entities as never), synchronize: true }),
      auth(basicAuth({ secret: 'a secret of the tests that is long enough for anything' })),
    )
    await app.ready()
    const ip = '203.0.113.7'
    const logIn = async () => {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': ip }
      const payload = JSON.stringify({ email: 'Ada@Example.com', password: 'wrong horse battery' })
      const { statusCode } = await app.inject({
        method: 'POST',
        url: '/auth/login',
        headers,
        payload,
        remoteAddress: '127.0.0.1',
      })
      return statusCode
    }
    for (let tries = 0; tries < 10; tries++) expect(await logIn()).to.equal(401)
    expect(await logIn()).to.equal(429)
    const used = (await show({ key: ' ADA@example.com', ip })).filter((each) => each.used > 0)
    expect(Object.fromEntries(used.map((each) => [each.name, each.used]))).to.deep.equal({
      'login-ip': 11,
      'login-pair': 11,
      'login-address': 10,
    })
    expect((await show({ key: 'ada@example.com' })).map(({ name }) => name)).to.not.include('login-pair')
    await run('clear', { key: 'ada@example.com', ip, name: 'login-pair' })
    expect(await logIn()).to.equal(401)
    expect((await run('show', {})).text).to.match(/^login-ip +by ip +30 in 60 s$/m)
    await app.close()
  })

  it('refuse limits in memory, and arguments that mean nothing', async () => {
    const { app, run } = commandsOf('memory')
    await app.ready()
    for (const name of ['show', 'clear'])
      expect((await startupErrorOf(() => run(name, { ip: '::1' }))).code).to.equal('MORTAR_LIMITS_PROCESSES')
    const wrong: [string, BrickCommandInput['values'], string][] = [
      ['clear', {}, 'Name a client'],
      ['show', { ip: 'ada' }, 'not an address'],
      ['show', { ip: '' }, 'not an address'],
      ['show', { name: 'serch' }, 'not a limit'],
      ['show', { ip: '::1', name: 'serch' }, 'not a limit'],
      ['show', { limit: '1', ip: '::1' }, 'need --key'],
      ['show', { limit: 'one', window: '1m', key: 'a' }, '--limit'],
      ['clear', { limit: '1', key: 'a' }, '--window'],
    ]
    for (const name of ['show', 'clear'])
      expect(await run(name, { ip: '::1' }, ['search']).catch(String)).to.include('accepts no names')
    for (const [name, values, message] of wrong)
      expect(await run(name, values).catch((error: unknown) => error), message)
        .to.be.instanceOf(RangeError)
        .with.property('message')
        .that.includes(message)
    await app.close()
  })

  it('list the limits of the application, or one of them', async () => {
    const { app, run } = commandsOf('memory')
    await app.ready()
    const search = { name: 'search', by: 'ip', limit: 3, window: 3600 }
    const teams = { name: 'GET /teams custom-60s', by: 'key', limit: 9, window: 60 }
    expect((await run('show', {})).json).to.deep.equal({ limits: [search, teams] })
    expect((await run('show', { name: 'search' })).json).to.deep.equal({ limits: [search] })
    await app.close()
    const bare = limits()
    const none = await createApp({ logger: false }).use(bare).ready()
    const { text } = await bare.commands!['show']!.run({ values: {}, positionals: [] }, none.services)
    expect(text).to.equal('The application has no limits.')
    await none.close()
  })

  /** A client of Redis in which each key has one count. */
  function clientOf(points: string | null, rest: number, respond: () => Promise<unknown> = async () => 1) {
    const keys: string[] = []
    const noted = (key: string) => {
      keys.push(key)
      return chain
    }
    const exec = async () => [
      [null, points],
      [null, rest],
    ]
    const chain = { get: noted, pttl: () => chain, exec }
    const del = (key: string) => {
      keys.push(`del ${key}`)
      return respond()
    }
    return { client: { status: 'ready', defineCommand() {}, rlflxIncr() {}, multi: () => chain, del }, keys }
  }
  const OWN = { key: 'a\nb', limit: '3', window: '1m' }

  it('round the rest of a window up, and print a name in one line', async () => {
    const { client, keys } = clientOf('1', 1)
    const { app, run } = commandsOf(client)
    await app.ready()
    const shown = await run('show', OWN)
    expect(shown.json).to.deep.equal({
      limits: [{ name: 'a\nb', limit: 3, window: 60, used: 1, resetIn: 1 }],
    })
    expect(shown.text).to.match(/^a\S+b +1 of 3 +in 60 s +reset in 1 s *$/)
    expect((await run('clear', OWN)).text).to.match(/^Reset: a\S+b\.$/)
    expect(keys[0]).to.match(/^mortar:limits:[0-9a-f]{64}$/)
    expect(keys).to.deep.equal([keys[0], keys[0], `del ${keys[0]}`])
    expect((await run('show', { ...OWN, key: '' })).json).to.nested.include({ 'limits[0].name': '' })
    await app.close()
  })

  it('find a limit only by the option that names its subject, and no limit by credential', async () => {
    const { app, show } = commandsOf(clientOf('1', 1000).client, tokens())
    const per = { limit: 5, window: '1m' }
    app.use(
      createRouter()
        .get('/user', { auth: true, limit: { ...per, by: 'user' } }, () => [])
        .get('/credential', { limit: { ...per, by: 'credential' } }, () => []),
    )
    await app.ready()
    const found = async (values: BrickCommandInput['values']) => (await show(values)).map(({ name }) => name)
    expect(await found({ ip: '::1' })).to.deep.equal(['search'])
    expect(await found({ user: '1' })).to.deep.equal(['GET /user user-60s'])
    expect(await found({ key: '1' })).to.deep.equal(['GET /teams custom-60s'])
    expect(await found({ ip: '::1', user: '1', key: '1' })).to.have.length(3)
    await app.close()
  })

  it('show a count without an end as one that ends now, and clear no key that has no count', async () => {
    for (const points of ['2', null]) {
      const { client, keys } = clientOf(points, -1)
      const { app, run, show } = commandsOf(client)
      await app.ready()
      expect((await show(OWN))[0]).to.include({ used: Number(points), resetIn: 0 })
      await run('clear', OWN)
      expect(keys.filter((key) => key.startsWith('del'))).to.have.length(points === null ? 0 : 1)
      await app.close()
    }
  })

  it('report a store that fails, or is silent for five seconds, to show and to clear', async () => {
    const silent = () => new Promise<never>(() => {})
    const failing = () => Promise.reject(new Error('gone'))
    const breaks: readonly (readonly [string, object, string])[] = [
      [
        'show',
        {
          multi: () => {
            throw new Error('gone')
          },
        },
        'gone',
      ],
      ['clear', { del: failing }, 'gone'],
      ['clear', { del: () => Promise.reject('odd') }, 'odd'],
      ['clear', { del: silent }, 'No response within 5 s.'],
    ]
    for (const [name, broken, reason] of breaks) {
      const { app, run } = commandsOf({ ...clientOf('1', 1).client, ...broken })
      await app.ready()
      mock.timers.enable({ apis: ['setTimeout'] })
      const failure = startupErrorOf(() => run(name, OWN))
      for (let turn = 0; turn < 5; turn++) await nextTurn()
      mock.timers.tick(5000)
      const { code, message } = await failure.finally(() => mock.timers.reset())
      expect(code).to.equal('MORTAR_LIMITS_STORE')
      expect(message.split('\n')[0]).to.equal(`The store of the limits does not respond: ${reason}`)
      await app.close()
    }
  })
})
