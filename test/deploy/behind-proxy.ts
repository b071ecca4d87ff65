import { setTimeout as wait } from 'node:timers/promises'
import { createApp, createRouter, type App } from 'mortar'
import { number, object } from 'yup'

/** An application as it runs behind a proxy on the same machine. */
export interface ProxiedApp {
  readonly app: App
  readonly port: number
  /** Number of connections that it has accepted. */
  connections(): number
}

/** Starts an application with routes that show what the proxy forwards. */
export async function startProxied(name: string): Promise<ProxiedApp> {
  const routes = createRouter()
    .get('/who', (ctx) => ({ name, ip: ctx.ip, forwarded: ctx.koa.get('x-forwarded-for') }))
    .post('/sum', { body: object({ a: number().required() }) }, (ctx) => ({ name, a: ctx.body.a }))
    .get('/slow', async () => {
      await wait(300)
      return { name }
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
  }
}

/** Two events with a pause, and no end. */
async function* ticks(signal: AbortSignal): AsyncGenerator<string> {
  yield 'data: first\n\n'
  await wait(50)
  yield 'data: second\n\n'
  while (!signal.aborted) await wait(20)
}
