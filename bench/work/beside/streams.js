/** A stream of events that waits after its first event, and a file. */
import { createReadStream } from 'node:fs'
import { basename, dirname } from 'node:path'
import { createApp, createRouter, sendFile, sse } from 'mortar'
import { listen } from './listen.js'

const HEARTBEAT = 15_000
const { BENCH_FILE } = process.env

export const servers = {
  async mortar() {
    const root = dirname(BENCH_FILE)
    const app = createApp({ logger: false, openapi: false }).use(
      createRouter()
        .get('/events', (ctx) =>
          sse(ctx, async function* () {
            yield 'hello'
            await new Promise(() => {})
          }),
        )
        .get('/file', (ctx) => sendFile(ctx, basename(BENCH_FILE), { root })),
    )
    return app.listen(0, '127.0.0.1')
  },
  node: () =>
    listen((req, res) => {
      if (req.url === '/file') return createReadStream(BENCH_FILE).pipe(res)
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' })
      res.write('data: hello\n\n')
      const timer = setInterval(() => res.write(':\n\n'), HEARTBEAT)
      return res.on('close', () => clearInterval(timer))
    }),
}
