/**
 * A primary process with two workers that block, are sent a connection, and are killed. Prints whether the connections
 * were closed: `left` by Node alone, `closed` with `closeUnacknowledged`.
 */
import cluster from 'node:cluster'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { closeUnacknowledged } from '../../src/compat/cluster.ts'

const warnings: string[] = []

cluster.schedulingPolicy = cluster.SCHED_RR
cluster.setupPrimary({ exec: join(import.meta.dirname, 'cluster-worker.mjs'), execArgv: [] })
// One after the other, so that each worker gets its own connections.
const closed = await killBusyWorker({ isWatched: true, patience: 20_000 })
const left = await killBusyWorker({ isWatched: false, patience: 500 })
process.stdout.write(JSON.stringify({ closed, left, warnings }))
process.exit()

async function killBusyWorker(how: {
  readonly isWatched: boolean
  readonly patience: number
}): Promise<boolean> {
  const worker = cluster.fork()
  if (how.isWatched) closeUnacknowledged(worker, (found) => warnings.push(found))
  const [{ port }] = (await once(worker, 'listening')) as [{ port: number }]
  const first = connect(port, '127.0.0.1').on('error', () => undefined)
  await once(first, 'data')
  // The worker blocks from here on, so it cannot accept this one.
  const second = connect(port, '127.0.0.1').on('error', () => undefined)
  const isClosed = once(second, 'close').then(() => true)
  await once(second, 'connect')
  await wait(200)
  worker.process.kill('SIGKILL')
  await once(worker, 'exit')
  return Promise.race([isClosed, wait(how.patience, false)])
}
