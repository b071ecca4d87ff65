// Starts the reference application as `npm start` does, in this checkout, asks it for its pages, and ends it with SIGTERM.
// Like the first start of a newcomer, it leaves a secret in .env and a database in data/.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const ROOT = join(import.meta.dirname, '..')
const PAGES = ['/openapi.json', '/docs', '/_framework/mail']
const SECONDS_TO_START = 40
const SECONDS_TO_STOP = 20

const url = `http://127.0.0.1:${await findFreePort()}`
const application = startApplication()
try {
  await waitUntilReady()
  for (const page of PAGES) await expectOk(page)
  await stopApplication()
  console.log(`The reference application starts, serves ${PAGES.join(', ')} and stops.`)
} finally {
  application.child.kill('SIGKILL')
}

function startApplication() {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const [, ...args] = scripts.start.split(' ')
  const env = { ...process.env, PORT: new URL(url).port }
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const started = { child, output: '', exit: once(child, 'exit') }
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      started.output += chunk
    })
  return started
}

async function waitUntilReady() {
  const deadline = Date.now() + SECONDS_TO_START * 1000
  while (Date.now() < deadline) {
    if (application.child.exitCode !== null) fail(`ended with ${application.child.exitCode}`)
    const answer = await fetch(url + PAGES[0]).catch(() => undefined)
    if (answer?.ok) return
    await wait(200)
  }
  fail(`did not answer within ${SECONDS_TO_START} s`)
}

async function expectOk(page) {
  const answer = await fetch(url + page)
  if (answer.status !== 200) fail(`answered ${page} with ${answer.status}`)
}

async function stopApplication() {
  application.child.kill('SIGTERM')
  const timeout = wait(SECONDS_TO_STOP * 1000, undefined, { ref: false })
  const exit = await Promise.race([application.exit, timeout])
  if (!exit) fail(`did not stop within ${SECONDS_TO_STOP} s of SIGTERM`)
  if (exit[0] !== 0) fail(`stopped with ${exit[0] ?? exit[1]} after SIGTERM`)
}

async function findFreePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

function fail(message) {
  throw new Error(`The reference application ${message}. It wrote:\n${application.output}`)
}
