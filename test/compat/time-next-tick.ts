/**
 * Prints the least CPU time of 10,000 calls of `process.nextTick` in microseconds, after a garbage collection that came
 * before V8 optimized it. The argument `keep` calls `keepNextTickFast()` before.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { keepNextTickFast } from '../../src/compat/node.ts'
import { collectGarbage } from '../support/collect-garbage.ts'

if (process.argv[2] === 'keep') keepNextTickFast()
await runTicks(50)
await nextTurn()
collectGarbage()
await nextTurn()
let least = Number.POSITIVE_INFINITY
for (let round = 0; round < 40; round += 1) {
  const begin = process.cpuUsage()
  await runTicks(10_000)
  const { user, system } = process.cpuUsage(begin)
  least = Math.min(least, user + system)
}
console.log(least)

function runTicks(count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count
    const tick = (): void => {
      left -= 1
      if (left === 0) resolve()
    }
    for (let each = 0; each < count; each += 1) process.nextTick(tick)
  })
}
