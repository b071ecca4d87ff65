import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, type App } from 'mortar'
import { number, object } from 'yup'

/** An application as it runs behind a proxy on the same machine. */
export interface ProxiedApp {
  readonly app: App
  readonly port: number
  /** Number of connections that it has accepted. */
  connections(): number
  /** Requests to `/patient`, which wait until their client leaves, and those of them that know that it has left. */
  readonly patient: { waiting: number; left: number }
}

/** Starts an application with routes that show what the proxy forwards. */
export async function startProxied(name: string): Promise<ProxiedApp> {
  const patient = { waiting: 0, left: 0 }
  const routes = createRouter()
    .get('/who', (ctx) => ({
      name,
      ip: ctx.ip,
      forwarded: ctx.koa.get('x-forwarded-for'),
      origin: `${ctx.koa.protocol}://${ctx.koa.host}`,
    }))
    .post('/sum', { body: object({ a: number().required() }) }, (ctx) => ({ name, a: ctx.body.a }))
    .get('/slow', async () => {
      await wait(300)
      return { name }
    })
    .post('/patient', async (ctx) => {
      patient.waiting++
      await once(ctx.signal, 'abort')
      patient.left++
    })
    .get('/events', (ctx) => {
      ctx.type = 'text/event-stream'
      return ticks(ctx.signal)
    })
  const app = createApp({
    environment: 'test',
    trustProxy: ['127.0.0.1'],
    server: { keepAliveTimeout: '75s' },
  })
  app.use(routes)
  const { port, server } = await app.listen(0, '127.0.0.1')
  let connections = 0
  server.on('connection', () => connections++)
  return {
    app,
    port,
    connections: () => connections,
    patient,
  }
}

/** Sends what a client may try with each proxy: another host or scheme in a header, and the probes in other spellings. */
export async function expectNoForgery(port: number, hosts: readonly string[]): Promise<void> {
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const req = request({
      host: '127.0.0.1',
      port,
      path,
      headers: { host: 'notes.example.com', ...headers },
    }).end()
    const [res] = (await once(req, 'response')) as [IncomingMessage]
    return { status: res.statusCode, body: await text(res) }
  }
  for (const header of [
    'X-Forwarded-Host',
    'x-forwarded-host',
    'X-Forwarded-Proto',
    'Forwarded',
    'X-Forwarded-Port',
  ])
    for (const value of [
      'evil.example',
      'https',
      'https, http',
      'evil.example, notes.example.com',
      'host=evil.example',
    ]) {
      const { body } = await get('/who', { [header]: value })
      expect(hosts, `${header}: ${value}`).to.include((JSON.parse(body) as { origin: string }).origin)
    }
  for (const path of [
    '/livez',
    '/livez/',
    '/livez/?x',
    '/livez?x',
    '/%6civez',
    '/readyz',
    '/readyz/',
    '/readyz/?x',
    '/ready%7a/',
  ])
    expect(await get(path), path).to.satisfy(
      ({ status, body }: { status: number; body: string }) => status === 404 && !body.includes('"status":"'),
    )
}

/** The application knows that a client has left while a proxy waits for the response. */
export async function expectLeave(url: string, apps: readonly ProxiedApp[]): Promise<void> {
  const sum = (of: 'waiting' | 'left'): number => apps.reduce((all, { patient }) => all + patient[of], 0)
  const client = new AbortController()
  const failed = fetch(`${url}/patient`, { method: 'POST', signal: client.signal }).catch(() => undefined)
  while (sum('waiting') === 0) await wait(10)
  client.abort()
  await failed
  while (sum('left') === 0) await wait(10)
}

/** Two events with a pause, and no end. */
async function* ticks(signal: AbortSignal): AsyncGenerator<string> {
  yield 'data: first\n\n'
  await wait(50)
  yield 'data: second\n\n'
  while (!signal.aborted) await wait(20)
}
