/*
 * One application without a network for bench/seeing.ts: requests go into node:http over streams in memory. Each
 * message `requests` is a block; the response is the CPU time of a request in microseconds.
 */
import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import { Duplex } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type * as Metrics from '@mortar/metrics'
import type * as Tracing from '@mortar/tracing'
import type * as Mortar from 'mortar'

const CONNECTIONS = 8
const REQUEST = Buffer.from('GET /notes/7 HTTP/1.1\r\nHost: bench\r\n\r\n', 'latin1')
const [root = '', variant = ''] = process.argv.slice(2)

const load = <T>(path: string): Promise<T> => import(pathToFileURL(`${root}/${path}`).href) as Promise<T>
const { createApp, createRouter } = await load<typeof Mortar>('src/index.ts')
const app = createApp({ environment: 'production', logger: false, logRequests: false, signals: false })
if (variant === 'an empty subscriber') subscribe('tracing:mortar.request:asyncEnd', () => undefined)
if (variant === 'metrics()') {
  const { metrics } = await load<typeof Metrics>('plugins/metrics/index.ts')
  app.use(metrics({ token: 'a-token-of-the-bench' }))
}
if (variant === 'tracing() without an SDK') {
  const { tracing } = await load<typeof Tracing>('plugins/tracing/index.ts')
  app.use(tracing())
}
app.use(
  createRouter().get('/notes/:id', (ctx) => ({ id: (ctx.params as { id: string }).id, title: 'a note' })),
)
const { server } = await app.listen(0, '127.0.0.1')

class Wire extends Duplex {
  readonly remoteAddress = '127.0.0.1'
  answered = (): void => undefined
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    this.answered()
    done()
  }
  override _writev(_chunks: unknown, done: () => void): void {
    this.answered()
    done()
  }
  setTimeout(): this {
    return this
  }
}

const wires = Array.from({ length: CONNECTIONS }, () => {
  const wire = new Wire()
  ;(server as Server).emit('connection', wire)
  return wire
})

process.on('message', (requests: number) => void runBlock(requests))
process.on('disconnect', () => process.exit(0))
process.send!('ready')

async function runBlock(requests: number): Promise<void> {
  const before = process.cpuUsage()
  for (let done = 0; done < requests; done += CONNECTIONS) await oneOnEach()
  const { user, system } = process.cpuUsage(before)
  process.send!((user + system) / requests)
}

function oneOnEach(): Promise<void> {
  return new Promise((resolve) => {
    let open = CONNECTIONS
    for (const wire of wires) {
      wire.answered = () => {
        if (--open === 0) setImmediate(resolve)
      }
      wire.push(REQUEST)
    }
  })
}
