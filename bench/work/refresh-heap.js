/*
 * Does so many refreshes and prints the heap after each tenth of them, in bytes as JSON:
 * `node --expose-gc bench/work/refresh-heap.js <count>`.
 */
import { createLoginApp } from '../peers/mortar-login.js'
import { passwordOf } from './data.js'

const count = Number(process.argv[2])
const app = await createLoginApp(1)
const payload = { email: 'user0@example.com', password: passwordOf(0) }
let cookie = cookieOf(await app.inject({ method: 'POST', url: '/auth/login', payload }))
const heaps = []
for (let done = 1; done <= count; done++) {
  const headers = { cookie, 'content-type': 'application/json' }
  cookie = cookieOf(await app.inject({ method: 'POST', url: '/auth/refresh', headers, payload: '{}' }))
  if (done % Math.ceil(count / 10) === 0) heaps.push(heapNow())
}
process.stdout.write(JSON.stringify(heaps))
process.exit(0)

function cookieOf({ statusCode, headers, body }) {
  if (statusCode !== 200) throw new Error(`Answered ${statusCode}: ${body}`)
  const [line] = [headers['set-cookie']].flat()
  return line.split(';', 1)[0]
}

function heapNow() {
  globalThis.gc()
  globalThis.gc()
  return process.memoryUsage().heapUsed
}
