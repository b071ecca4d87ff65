import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createLoad } from './load/load.ts'
import { startServer } from './servers.ts'
import { user } from './workloads/user.ts'

const run = promisify(execFile)

/** Bytes on the heap after a collection, after each tenth of the work. */
export interface HeapCourse {
  readonly what: string
  readonly heaps: readonly number[]
}

/** Sends so many requests of workload b, over connections that come and go. */
export async function heapOverRequests(count: number): Promise<HeapCourse> {
  const { app, size } = user
  const requests = user.requests([])
  const server = await startServer({ name: 'mortar', peer: 'mortar', app, size, exposeGc: true })
  const load = createLoad()
  const heaps: number[] = []
  let done = 0
  try {
    while (heaps.length < 10) {
      const task = { port: server.port, requests, status: 200, connections: 50, pipelining: 1 }
      done += (await load.measure({ ...task, seconds: 0.2 })).responses
      while (heaps.length < 10 && done >= (count / 10) * (heaps.length + 1))
        heaps.push((await server.heap()).heap)
    }
    return { what: `${done} requests`, heaps }
  } finally {
    load.stop()
    await server.stop()
  }
}

/** Rotates one session so many times. */
export async function heapOverRefreshes(count: number): Promise<HeapCourse> {
  const script = `${import.meta.dirname}/work/refresh-heap.js`
  const { stdout } = await run(process.execPath, ['--expose-gc', script, String(count)], {
    env: { ...process.env, NODE_ENV: 'production' },
  })
  return { what: `${count} refreshes`, heaps: JSON.parse(stdout) as number[] }
}
