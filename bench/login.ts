import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { createLoad, type Load } from './load/load.ts'
import { probe, type Probe } from './probe.ts'
import { startServer, type Server } from './servers.ts'
import { pairedRatios, spreadOf } from './statistics.ts'
import { passwordOf } from './work/data.js'

const run = promisify(execFile)

const USERS = 8
/** Hashes that Mortar computes together: the cores, and at most libuv's four threads less two. */
const AT_ONCE = Math.min(availableParallelism(), 2)
/** Connections of a flood that fits into the queue, and of one that does not. */
const FLOOD = 32
const OVERLOAD = 400

/** The figures of workload g. */
export interface LoginResult {
  /** Of argon2id alone, in the same rounds. */
  readonly bound: number[]
  readonly logins: number[]
  readonly idle: Readonly<Record<'hello' | 'file', Probe>>
  readonly flooded: Readonly<Record<'hello' | 'file', Probe>>
  readonly overload: { readonly logins: number; readonly refused: number; readonly other: number }
  /** Bytes of resident memory: before, after the floods, after the overload. */
  readonly rss: readonly [number, number, number]
}

/** Workload g: logins a second beside argon2id alone, and what a flood of logins does to everything else. */
export async function measureLogin({
  rounds,
  seconds,
}: {
  rounds: number
  seconds: number
}): Promise<LoginResult> {
  const server = await startServer({
    name: 'mortar',
    peer: 'mortar-login',
    app: 'login',
    size: USERS,
    onAllCores: true,
  })
  const load = createLoad()
  try {
    return await measure(server, load, { rounds, seconds: Math.max(2, seconds) })
  } finally {
    load.stop()
    await server.stop()
  }
}

async function measure(
  server: Server,
  load: Load,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<LoginResult> {
  const idle = await probeBoth(server, seconds)
  const rss = [(await server.usage()).rss]
  const bound: number[] = []
  const logins: number[] = []
  for (let round = 0; round < rounds; round++) {
    bound.push(await argon2Bound(seconds))
    const flood = await floodWith(server, load, FLOOD, seconds)
    if (flood.errors > 0)
      throw new Error(`Logins failed: ${JSON.stringify(flood.statuses)} ${flood.failure ?? ''}`)
    logins.push(flood.responses / flood.seconds)
  }
  const [flooded] = await Promise.all([
    probeBoth(server, 2 * seconds),
    floodWith(server, load, FLOOD, 2 * seconds),
  ])
  rss.push((await server.usage()).rss)
  const {
    responses,
    errors,
    statuses = {},
    seconds: elapsed,
  } = await floodWith(server, load, OVERLOAD, 2 * seconds)
  rss.push((await server.usage()).rss)
  const refused = statuses['503'] ?? 0
  const overload = {
    logins: (responses - errors) / elapsed,
    refused: refused / elapsed,
    other: errors - refused,
  }
  return { bound, logins, idle, flooded, overload, rss: rss as [number, number, number] }
}

async function argon2Bound(seconds: number): Promise<number> {
  const script = `${import.meta.dirname}/work/argon2-bound.js`
  const { stdout } = await run(process.execPath, [script, String(AT_ONCE), String(seconds)])
  return Number(stdout)
}

function floodWith(server: Server, load: Load, connections: number, seconds: number) {
  const requests = Array.from({ length: USERS }, (_, index) => ({
    method: 'POST',
    path: '/auth/login',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `user${index}@example.com`, password: passwordOf(index) }),
  }))
  return load.measure({ port: server.port, requests, status: 200, connections, pipelining: 1, seconds })
}

async function probeBoth({ port }: Server, seconds: number): Promise<Record<'hello' | 'file', Probe>> {
  const [hello, file] = await Promise.all([
    probe(port, '/', { seconds, every: 5 }),
    probe(port, '/file', { seconds, every: 5 }),
  ])
  return { hello, file }
}

/** The result as Markdown. */
export function loginTable(result: LoginResult): string {
  const { bound, logins, idle, flooded, overload, rss } = result
  const ratio = pairedRatios(logins, bound)
  const rows = [
    ['argon2id alone', `${spreadOf(bound).median.toFixed(1)} verifications/s, ${AT_ONCE} together`],
    ['logins', `${spreadOf(logins).median.toFixed(1)}/s with ${FLOOD} under way`],
    ['÷ argon2id alone', `${ratio.median.toFixed(3)} [${ratio.q25.toFixed(3)}–${ratio.q75.toFixed(3)}]`],
    ['p99 of hello', `${ms(idle.hello)} alone, ${ms(flooded.hello)} during the flood`],
    ['p99 of an endpoint that reads a file', `${ms(idle.file)} alone, ${ms(flooded.file)} during the flood`],
    [
      `${OVERLOAD} logins under way`,
      `${overload.logins.toFixed(1)} logins/s, ${overload.refused.toFixed(0)} refusals (503)/s, ${overload.other} other answers`,
    ],
    [
      'memory',
      `${rss.map((bytes) => (bytes / 1e6).toFixed(0)).join(' → ')} MB: idle, after floods, after overload`,
    ],
  ]
  const lines = [['g', ''], ['---', '---'], ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return `### g: logins, and the rest of the service during a flood of them\n\n${lines.join('\n')}`
}

function ms({ p99 }: Probe): string {
  return `${p99.toFixed(1)} ms`
}
