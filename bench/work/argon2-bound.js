/*
 * How many passwords a second this machine can verify with argon2id and nothing around it:
 * `node bench/work/argon2-bound.js <together> <seconds>` prints the number. Same cost as Mortar's default.
 */
import argon2 from 'argon2'
import { passwordOf } from './data.js'

const [atOnce, seconds] = process.argv.slice(2).map(Number)
const stored = await argon2.hash(passwordOf(0), { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
const begin = performance.now()
let count = 0

async function verifyOn() {
  while (performance.now() - begin < seconds * 1000) {
    await argon2.verify(stored, passwordOf(0))
    count++
  }
}
await Promise.all(Array.from({ length: atOnce }, verifyOn))
process.stdout.write(String((count / (performance.now() - begin)) * 1000))
