import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { App } from 'mortar'

/** An application behind one of its doors. */
export interface OpenDoor {
  readonly url: string
  fetch(path: string, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

/** A way to serve an application; every integration test runs through each of them. */
export interface DoorKind {
  readonly name: string
  open(app: App): Promise<OpenDoor>
}

/** Node's listener without a Koa context, and a real Koa application's callback. */
export const DOORS: readonly DoorKind[] = [
  {
    name: 'through the direct door',
    async open(app) {
      const { url } = await app.listen(0, '127.0.0.1')
      return openDoor(url, () => app.close())
    },
  },
  {
    name: 'through the Koa door',
    async open(app) {
      const server = createServer(app.koa.callback())
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve)
      })
      const { port } = server.address() as AddressInfo
      return openDoor(`http://127.0.0.1:${port}`, async () => {
        await closeServer(server)
        await app.close()
      })
    },
  },
]

function openDoor(url: string, close: () => Promise<void>): OpenDoor {
  return { url, close, fetch: (path, init) => fetch(url + path, { redirect: 'manual', ...init }) }
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}

/** Runs the same tests through both doors; applications opened in a test are closed after it. */
export function throughBothDoors(tests: (open: (app: App) => Promise<OpenDoor>) => void): void {
  for (const door of DOORS)
    describe(door.name, () => {
      const opened: OpenDoor[] = []
      afterEach(async () => {
        for (const one of opened.splice(0)) await one.close()
      })
      tests(async (app) => {
        const one = await door.open(app)
        opened.push(one)
        return one
      })
    })
}
