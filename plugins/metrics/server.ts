import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { isHttpError } from 'mortar/kit'
import { readerOf } from './access.ts'
import type { MetricsSettings } from './options.ts'
import type { Scrape } from './scrape.ts'
import { fault } from './startup-codes.ts'

/**
 * Starts a server that serves the metrics and nothing else.
 * @returns a function that closes it.
 * @throws StartupError `MORTAR_METRICS_LISTEN`.
 */
export async function startServer(settings: MetricsSettings, scrape: Scrape): Promise<() => Promise<void>> {
  const { port, host } = settings.server!
  const refuseStranger = settings.token === undefined ? undefined : readerOf(settings)
  // Not `import 'node:http'`, which loads Node's fetch on Node 22 and later.
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer((req, res) => {
    void respond(req, res, { path: settings.path, refuseStranger, scrape })
  })
  await new Promise<void>((resolve, reject) => {
    // Not only once: without a listener, an error of a later connection would end the process.
    server.on('error', (cause: NodeJS.ErrnoException) =>
      reject(
        fault(
          'MORTAR_METRICS_LISTEN',
          `The metrics cannot listen on port ${port} of ${host}: ${cause.code}.`,
          {
            cause,
          },
        ),
      ),
    )
    server.listen(port, host, resolve)
  })
  return () => closeServer(server)
}

interface Serving {
  readonly path: string
  readonly refuseStranger: ((req: IncomingMessage) => void) | undefined
  readonly scrape: Scrape
}

async function respond(
  req: IncomingMessage,
  res: ServerResponse,
  { path, refuseStranger, scrape }: Serving,
): Promise<void> {
  const isFound = (req.method === 'GET' || req.method === 'HEAD') && req.url?.split('?')[0] === path
  if (!isFound) return void res.writeHead(404).end()
  try {
    refuseStranger?.(req)
    const { type, text } = await scrape.render()
    res.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(text)
  } catch (error) {
    const status = isHttpError(error) ? error.status : 500
    res.writeHead(status, status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}).end()
  }
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  server.closeAllConnections()
  await closed
}
