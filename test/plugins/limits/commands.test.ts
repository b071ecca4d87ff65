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

  it('refuse limits in memory, a silent or failing store, and arguments that mean nothing', async () => {
    const { app, run } = commandsOf('memory')
    await app.ready()
    for (const name of ['show', 'clear'])
      expect((await startupErrorOf(() => run(name, { ip: '::1' }))).code).to.equal('MORTAR_LIMITS_PROCESSES')
    const wrong: [string, BrickCommandInput['values'], string][] = [
      ['clear', {}, 'Name a client'],
      ['show', { ip: 'ada' }, 'not an address'],
      ['show', { ip: '::1', name: 'serch' }, 'not a limit'],
      ['show', { limit: '1', ip: '::1' }, 'need --key'],
      ['show', { limit: 'one', window: '1m', key: 'a' }, '--limit'],
      ['clear', { limit: '1', key: 'a' }, '--window'],
    ]
    for (const [name, values, message] of wrong)
      expect(await run(name, values).catch((error: unknown) => error), message)
        .to.be.instanceOf(RangeError)
        .with.property('message')
        .that.includes(message)
    await app.close()
    const away = {
      defineCommand() {},
      status: 'end',
      rlflxIncr: () => {},
      get: () => {},
      multi: () => {
        throw new Error('gone')
      },
    }
    const failing = commandsOf(away)
    await failing.app.ready()
    const { code, message } = await startupErrorOf(() => failing.run('show', { ip: '::1' }))
    expect([code, message], message).to.deep.equal(['MORTAR_LIMITS_STORE', message])
    await failing.app.close()
  })
})
