import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { App } from 'mortar'

/** An application that is served through one of its adapters. */
export interface ServedApp {
  readonly url: string
  fetch(path: string, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

/** A way to serve an application; every integration test runs through each of them. */
export interface AdapterKind {
  readonly name: string
  open(app: App): Promise<ServedApp>
}

/** Node's listener without a Koa context, and a real Koa application's callback. */
export const ADAPTERS: readonly AdapterKind[] = [
  {
    name: 'through the direct adapter',
    async open(app) {
      const { url } = await app.listen(0, '127.0.0.1')
      return servedApp(url, () => app.close())
    },
  },
  {
    name: 'through the Koa adapter',
    async open(app) {
      const server = createServer(app.koa.callback())
      app.upgrade(server)
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve)
      })
      const { port } = server.address() as AddressInfo
      return servedApp(`http://127.0.0.1:${port}`, async () => {
        await closeServer(server)
        await app.close()
      })
    },
  },
]

function servedApp(url: string, close: () => Promise<void>): ServedApp {
  return { url, close, fetch: (path, init) => fetch(url + path, { redirect: 'manual', ...init }) }
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}

/** Runs the same tests through both adapters; applications opened in a test are closed after it. */
export function throughBothAdapters(tests: (open: (app: App) => Promise<ServedApp>) => void): void {
  for (const adapter of ADAPTERS)
    describe(adapter.name, () => {
      const opened: ServedApp[] = []
      afterEach(async () => {
        for (const one of opened.splice(0)) await one.close()
      })
      tests(async (app) => {
        const one = await adapter.open(app)
        opened.push(one)
        return one
      })
    })
}
