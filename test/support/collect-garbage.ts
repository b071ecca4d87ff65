import { setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Runs a full garbage collection, or with `minor` one of the young generation only. */
export const collectGarbage = runInNewContext('gc') as (options?: { type: 'minor' }) => void

/**
 * Resolves with how many of the objects are in memory, as soon as no more than `expected` are, or after fifty looks. One
 * collection is not enough: what ran last may still be on a stack, in a queue of microtasks, or in code being compiled.
 */
export async function countKept(refs: readonly WeakRef<object>[], expected = 0): Promise<number> {
  const kept = (): number => {
    collectGarbage()
    return refs.filter((ref) => ref.deref() !== undefined).length
  }
  let count = kept()
  for (let look = 0; count > expected && look < 50; look++) {
    await wait(5)
    count = kept()
  }
  return count
}

/** Returns the bytes that stay in the heap after work with a hundred names of 100 kB, of which nothing may be kept. */
export async function keptAfter(use: (name: string) => unknown): Promise<number> {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let index = 0; index < 100; index++) await use(Buffer.alloc(100_000, `${index} `).toString('latin1'))
  collectGarbage()
  return process.memoryUsage().heapUsed - before
}
