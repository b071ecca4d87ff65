/**
 * Compares `mortar start --workers` with 1, 2 and 4 workers with one process: requests per second, and CPU time per
 * request, as multiples of those of one process. Every set-up starts once per round, in turns; medians of the rounds.
 *
 *     npm run build && node --import tsx --conditions=source bench/workers.ts [ROUNDS] [SECONDS]
 *
 * The load generator runs on the same machine. On two cores it uses up to one of them, which the workers then lack.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createLoad, type Load } from './load/load.ts'
import { pairedRatios, spreadOf } from './statistics.ts'
import type { WireRequest } from './workloads/workload.ts'
import { passwordOf, SECRET } from './work/data.js'
import { COMMAND_LINE, PACKAGE } from './work/mortar-entry.js'
import { freePort } from '../test/support/free-port.ts'

const ROUNDS = Number(process.argv[2] ?? 5)
const SECONDS = Number(process.argv[3] ?? 3)

/** Number of workers by the name in the table. */
const SETUPS: Readonly<Record<string, number>> = {
  'without --workers': 0,
  '--workers 1': 1,
  '--workers 2': 2,
  '--workers 4': 4,
}

const EMAIL = 'user0@example.com'

/** An application without a build step: `mortar start` needs only the record of a build. */
const APP = `import { createApp, createRouter } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import { AuthUsers, AuthRefreshTokens, AuthResetTokens, AuthEndedSessions } from '@mortar/auth/basic/schema'
import { database } from '@mortar/database'
const entities = [AuthUsers, AuthRefreshTokens, AuthResetTokens, AuthEndedSessions]
const routes = createRouter()
routes.get('/me', { auth: true }, ({ user: { id, name, email } }) => ({ id, name, email }))
routes.get('/work', () => {
  const begin = performance.now()
  let value = 0
  while (performance.now() - begin < 1) value += Math.sqrt(value + 1)
  return { value: value > 0 }
})
export const app = createApp({ logger: false, openapi: false })
  .use(database({ type: 'better-sqlite3', database: 'app.db', entities, synchronize: true }))
  .use(auth(basicAuth({ secret: '${SECRET}', appUrl: 'https://example.com', limits: false })))
  .use(routes)
`

/** A kind of request. */
interface Work {
  readonly name: string
  readonly connections: number
  readonly request: WireRequest
}

/** Results of a round. */
interface Figures {
  readonly perSecond: number
  /** Milliseconds of CPU time per request, of all processes of the application; NaN without /proc. */
  readonly cpu: number
}

interface Running {
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

function makeApplication(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mortar-workers-'))
  mkdirSync(join(folder, '.framework'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(PACKAGE, join(folder, 'node_modules/mortar'))
  writeFileSync(join(folder, '.framework/build.json'), JSON.stringify({ app: 'app.js', sources: '' }))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  writeFileSync(join(folder, 'app.js'), APP)
  return folder
}

async function start(folder: string, workers: number): Promise<Running> {
  const port = await freePort()
  const args = workers === 0 ? [] : ['--workers', String(workers)]
  const child = spawn(process.execPath, [COMMAND_LINE, 'start', ...args], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      DRAIN_DELAY: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  await untilReady(child, port, workers)
  return {
    pid: child.pid!,
    port,
    async stop() {
      child.kill('SIGTERM')
      const [code] = (await exited) as [number | null]
      if (code !== 0) throw new Error(`The application ended with exit code ${code}.`)
    },
  }
}

/** Waits for the log lines of all workers, and for a response. */
async function untilReady(child: ChildProcess, port: number, workers: number): Promise<void> {
  let output = ''
  child.stdout!.on('data', (part: Buffer) => (output += part.toString()))
  const responds = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/work`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (output.split('"worker.ready"').length <= workers || !(await responds())) {
    if (child.exitCode !== null) throw new Error(`The application ended:\n${output}`)
    await wait(20)
  }
}

/** Signs a user up, and returns the kinds of requests. */
async function prepareWork(folder: string): Promise<readonly Work[]> {
  const running = await start(folder, 0)
  const password = passwordOf(0)
  const response = await fetch(`http://127.0.0.1:${running.port}/auth/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'User', email: EMAIL, password }),
  })
  const { accessToken } = (await response.json()) as { accessToken: string }
  await running.stop()
  const headers = { authorization: `Bearer ${accessToken}` }
  const login = {
    method: 'POST',
    path: '/auth/login',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: EMAIL, password }),
  }
  return [
    { name: 'guarded GET', connections: 32, request: { method: 'GET', path: '/me', headers } },
    { name: '1 ms of JavaScript', connections: 32, request: { method: 'GET', path: '/work', headers: {} } },
    { name: 'login', connections: 4, request: login },
  ]
}

async function measure(load: Load, { port, pid }: Running, work: Work): Promise<Figures> {
  const { name, request, connections } = work
  const task = { port, requests: [request], status: 200, connections, pipelining: 1 }
  await load.measure({ ...task, seconds: SECONDS / 4 })
  load.forget()
  const before = cpuTime(pid)
  const { responses, errors, statuses, failure, seconds } = await load.measure({ ...task, seconds: SECONDS })
  const cpu = (cpuTime(pid) - before) / responses
  load.forget()
  if (errors > 0)
    throw new Error(`${name}: ${errors} requests failed: ${JSON.stringify(statuses)} ${failure ?? ''}`)
  return { perSecond: responses / seconds, cpu }
}

/** CPU time of a process and its children so far, in milliseconds. Linux counts it in hundredths of a second. */
function cpuTime(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    const own = (Number(fields[11]) + Number(fields[12])) * 10
    return children.reduce((sum, child) => sum + cpuTime(Number(child)), own)
  } catch {
    return Number.NaN
  }
}

async function main(): Promise<void> {
  const folder = makeApplication()
  const load = createLoad()
  const works = await prepareWork(folder)
  const figures = works.map(() => Object.keys(SETUPS).map(() => [] as Figures[]))
  for (let round = 0; round < ROUNDS; round++)
    for (const [setup, workers] of Object.values(SETUPS).entries()) {
      const running = await start(folder, workers)
      for (const [index, work] of works.entries())
        figures[index]![setup]!.push(await measure(load, running, work))
      await running.stop()
    }
  load.stop()
  rmSync(folder, { recursive: true })
  console.log(`${availableParallelism()} cores, Node ${process.version}, ${ROUNDS} rounds of ${SECONDS} s`)
  for (const [index, { name }] of works.entries()) print(name, figures[index]!)
}

/** Prints the median of each set-up, and its ratio to one process with the middle half. */
function print(name: string, [alone, ...others]: readonly (readonly Figures[])[]): void {
  console.log(
    `\n| ${name} | requests per second | ratio | ms of CPU | ratio |\n| --- |${' ---: |'.repeat(4)}`,
  )
  for (const [setup, rounds] of [alone!, ...others].entries()) {
    const cells = (['perSecond', 'cpu'] as const).flatMap((key) => {
      const values = rounds.map((each) => each[key])
      const base = alone!.map((each) => each[key])
      const { median, q25, q75 } = pairedRatios(values, base)
      const shown = `${median.toFixed(2)} (${q25.toFixed(2)}–${q75.toFixed(2)})`
      return [spreadOf(values).median.toPrecision(3), shown]
    })
    console.log(`| ${Object.keys(SETUPS)[setup]} | ${cells.join(' | ')} |`)
  }
}

await main()
