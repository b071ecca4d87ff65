import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Runs a full garbage collection, or with `minor` one of the young generation only. */
export const collectGarbage = runInNewContext('gc') as (options?: { type: 'minor' }) => void

/** Returns the bytes that stay in the heap after work with a hundred names of 100 kB, of which nothing may be kept. */
export async function keptAfter(use: (name: string) => unknown): Promise<number> {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let index = 0; index < 100; index++) await use(Buffer.alloc(100_000, `${index} `).toString('latin1'))
  collectGarbage()
  return process.memoryUsage().heapUsed - before
}
