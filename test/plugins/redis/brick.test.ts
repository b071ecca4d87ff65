import { EventEmitter, once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { createApp, value } from 'mortar'
import { redis, type RedisOptions } from '@mortar/redis'
import { createClient } from '../../../plugins/redis/client.ts'
import { connect } from '../../../plugins/redis/connect.ts'
import { watchConnection } from '../../../plugins/redis/watch.ts'
import { freePort } from '../../support/free-port.ts'
import { needRedisServer, startRedis, type RedisServer } from '../../support/redis-server.ts'
import { startProxy } from '../limits/proxy.ts'
import { startupErrorOf } from '../../support/startup-error-of.ts'

const PASSWORD = 'canary-password'

function silentLogger(lines: string[] = []) {
  const write = (_fields: unknown, text?: string): void => void lines.push(text ?? String(_fields))
  const logger = { debug: write, info: write, warn: write, error: write, fatal: write, trace: write }
  return { ...logger, child: () => logger }
}

function appWith(options: RedisOptions, lines?: string[]) {
  return createApp({ environment: 'test', logger: silentLogger(lines) as never }).use(redis(options))
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await wait(10)
}

describe('the watch of a connection', () => {
  it('names the address and the reason of each loss, and of no earlier one, until it is stopped', () => {
    const client = Object.assign(new EventEmitter(), { options: { host: 'localhost', port: 6379 } })
    const reasons: unknown[] = []
    const begin = ({ error, fields }: { error: Error; fields: object }) =>
      void reasons.push({ reason: error.message, ...fields })
    const stop = watchConnection(client as never, { begin, end: () => undefined } as never)
    client.emit('error', new Error('reset'))
    for (const event of ['close', 'ready', 'close']) client.emit(event)
    stop()
    client.emit('close')
    const fields = { brick: 'redis', address: 'localhost:6379/0' }
    expect(reasons).to.deep.equal([
      { reason: 'reset', ...fields },
      { reason: 'The connection has ended.', ...fields },
    ])
  })
})

describe('a server that refuses writes', () => {
  it('is left once a second at most, because a cluster may have no other one yet', () => {
    const settings = { url: 'redis://localhost', options: {}, client: undefined, startTimeout: 1000 }
    const { reconnectOnError } = createClient(settings).options
    const refusal = new Error("READONLY You can't write against a read only replica.")
    const errors = [new Error('ERR syntax'), refusal, refusal]
    expect(errors.map((error) => reconnectOnError!(error))).to.deep.equal([false, true, false])
  })
})

describe('the options of redis()', () => {
  const WRONG: Record<string, RedisOptions> = {
    'no address': {},
    'an address of another kind': { url: `http://user:${PASSWORD}@localhost` },
    'an empty address': { url: '' },
    'a client beside an address': { url: 'redis://localhost', client: new Redis({ lazyConnect: true }) },
    'a client that ioredis did not make': { client: {} as never },
    'a time of zero': { url: 'redis://localhost', startTimeout: 0 },
    'a time that is not a duration': { url: 'redis://localhost', startTimeout: 'soon' },
  }
  for (const [what, options] of Object.entries(WRONG))
    it(`refuse ${what}`, async () => {
      const error = await startupErrorOf(() => redis(options))
      expect(error.code).to.be.oneOf(['MORTAR_REDIS_OPTION', 'MORTAR_OPTION_TYPE'])
      expect(`${error.message} ${error.remedy}`).not.to.include(PASSWORD)
    })
})

describe('the redis brick without a server', () => {
  it('fails the start after the time with the address and no password', async () => {
    const port = await freePort()
    const app = appWith({ url: `redis://ada:${PASSWORD}@127.0.0.1:${port}/3`, startTimeout: 0.3 })
    const error = await startupErrorOf(() => app.ready())
    expect(error.code).to.equal('MORTAR_REDIS_UNREACHABLE')
    expect(error.message).to.include(`127.0.0.1:${port}/3`).and.include('ECONNREFUSED')
    expect(JSON.stringify([error.message, error.remedy, String(error.cause)])).not.to.include(PASSWORD)
  })

  it('fails the start when a server accepts and stays silent', async () => {
    const sockets: Socket[] = []
    const server = createServer((socket) => sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const app = appWith({ url: `redis://127.0.0.1:${port}`, startTimeout: 0.3 })
    expect((await startupErrorOf(() => app.ready())).code).to.equal('MORTAR_REDIS_UNREACHABLE')
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  it('names the reason of the first of several addresses', async () => {
    const reason = new AggregateError(
      ['ENETUNREACH', 'ECONNREFUSED'].map((code) => Object.assign(new Error(), { code })),
    )
    const parts = {
      options: { host: 'localhost' },
      connect: () => Promise.reject(reason),
      disconnect: () => undefined,
    }
    const client = Object.assign(new EventEmitter(), parts)
    const error = await startupErrorOf(() => connect(client as never, 20))
    expect(error.message).to.include('does not respond within 0.02 s (ENETUNREACH).')
  })

  it('accepts a replacement of the service that cannot connect', async () => {
    const app = appWith({ url: 'redis://127.0.0.1:1' }).override({
      redis: value({ get: () => 'x' } as never),
    })
    await app.ready()
    await app.close()
  })
})

describe('the redis brick with a server', () => {
  needRedisServer()
  let server: RedisServer

  before(async () => {
    server = await startRedis()
  })
  after(() => server.stop())

  it('provides a connected client and closes it', async () => {
    const app = appWith({ url: server.url })
    await app.ready()
    const client = app.container.resolve('redis')
    expect(await client.ping()).to.equal('PONG')
    await app.close()
    expect(client.status).to.equal('end')
  })

  it('sends what was under way before it closes', async () => {
    const app = appWith({ url: server.url })
    await app.ready()
    const client = app.container.resolve('redis')
    const replies = Array.from({ length: 100 }, () => client.incr('under-way'))
    await app.close()
    expect(await Promise.all(replies)).to.have.lengthOf(100)
  })

  it('closes the connection to a server that stays silent at the stop', async () => {
    const own = await startRedis()
    const app = appWith({ url: own.url })
    await app.ready()
    const client = app.container.resolve('redis')
    const other = new Redis(own.url)
    await other.client('PAUSE', 100_000, 'ALL')
    await app.close()
    expect(client.stream.writableEnded).to.equal(true)
    await once(client, 'end')
    other.disconnect()
    await own.stop()
  })

  it('leaves a client open that was connected before, and closes one that it connected', async () => {
    const before = new Redis(server.url)
    await once(before, 'ready')
    const lazy = new Redis(server.url, { lazyConnect: true })
    for (const client of [before, lazy]) {
      const app = appWith({ client })
      await app.ready()
      expect(await client.ping()).to.equal('PONG')
      await app.close()
    }
    expect([before.status, lazy.status]).to.deep.equal(['ready', 'end'])
    before.disconnect()
  })

  it('accepts ioredis options', async () => {
    const app = appWith({ options: { port: server.port, keyPrefix: 'mine:' } })
    await app.ready()
    const client = app.container.resolve('redis')
    await client.set('a', '1')
    expect(await client.keys('mine:*')).to.deep.equal(['mine:a'])
    await app.close()
  })

  it('refuses a wrong password and a wrong database immediately', async () => {
    const closed = await startRedis('--requirepass', 'right')
    try {
      for (const url of [`redis://:${PASSWORD}@127.0.0.1:${closed.port}`, closed.url, `${server.url}/999`]) {
        const error = await startupErrorOf(() => appWith({ url, startTimeout: '1h' }).ready())
        expect(error.code, url).to.equal('MORTAR_REDIS_REFUSED')
        expect(`${error.message} ${error.remedy} ${String(error.cause)}`).not.to.include(PASSWORD)
      }
    } finally {
      await closed.stop()
    }
  })

  it('closes a connection that stays silent, but not the next one', async () => {
    const lines: string[] = []
    const app = appWith({ url: server.url, options: { socketTimeout: 300 } }, lines)
    await app.ready()
    const client = app.container.resolve('redis')
    const other = new Redis(server.url)
    // The server stops to respond: every client waits.
    await other.client('PAUSE', 100_000, 'ALL')
    const pending = client.ping().catch(() => undefined)
    await until(() => client.status !== 'ready')
    await server.stop()
    await server.start()
    await pending
    await until(() => client.status === 'ready')
    const { stream } = client
    await wait(400)
    expect(await client.ping()).to.equal('PONG')
    expect(client.stream, 'the same connection').to.equal(stream)
    other.disconnect()
    await app.close()
  })

  it('logs once that the connection is lost and once that it is back, and never ends the process', async () => {
    const lines: string[] = []
    const own = await startRedis()
    const app = appWith({ url: own.url, options: { retryStrategy: () => 20 } }, lines)
    await app.ready()
    const client = app.container.resolve('redis')
    const news = (): string[] => lines.filter((line) => /redis/i.test(line))
    await own.stop()
    await until(() => news().length > 0)
    expect(await client.ping().catch((error: Error) => error.name)).to.equal('MaxRetriesPerRequestError')
    const lost = 'The connection to Redis is lost: The connection has ended.'
    expect(news()).to.deep.equal([lost])
    await own.start()
    await until(() => client.status === 'ready')
    expect(await client.ping()).to.equal('PONG')
    expect(news()).to.deep.equal([lost, 'Works again: redis.'])
    await own.stop()
    await until(() => client.status !== 'ready')
    await app.close()
    expect(client.status, 'not ready').to.be.oneOf(['end', 'reconnecting'])
    await own.start()
    await wait(100)
    expect(client.status, 'not connected again').not.to.equal('ready')
    await own.stop()
  })

  it('leaves a server that has become a replica, for the one to which its address leads now', async () => {
    const former = await startRedis()
    const proxy = await startProxy('127.0.0.1', former.port)
    const app = appWith({ url: `redis://127.0.0.1:${proxy.port}` })
    await app.ready()
    const client = app.container.resolve('redis')
    client.defineCommand('setByScript', { numberOfKeys: 1, lua: "return redis.call('SET', KEYS[1], '1')" })
    const { setByScript } = client as unknown as { setByScript(key: string): Promise<unknown> }
    const admin = new Redis(former.url)
    await admin.replicaof('127.0.0.1', server.port)
    proxy.lead(server.port)
    // The connection stays open, as after a planned failover of a hosted Redis.
    const write = () => setByScript.call(client, 'after').then(String, (error: Error) => error.message)
    expect(await write()).to.include('READONLY')
    expect(await write()).to.equal('OK')
    admin.disconnect()
    await app.close()
    proxy.close()
    await former.stop()
  })
})
