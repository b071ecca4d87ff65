// Runs the built reference application under mixed traffic while its processes, its network and its database break,
// then compares every acknowledged write with the stored rows. Exits with 1 when it finds a fault. docs/reliability.md
// describes it. Run: npm run soak -- [--seconds 120] [--engine sqlite|postgres|mariadb] [--processes 3] [--members 12]
// [--proxies] [--pause 60] [--seed N] [--only SIGTERM] [--skew 60]
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { buildApplication, COMMAND_LINE } from './application.ts'
import { Disturbances } from './disturbances.ts'
import { EndedSessions } from './ended-sessions.ts'
import type { Engine } from './engines/engine.ts'
import { startEngine } from './engines/start-engine.ts'
import { breakThings } from './faults.ts'
import { Findings } from './findings.ts'
import { freePort } from './free-port.ts'
import { Instance } from './instance.ts'
import { Member } from './member.ts'
import { startProxies } from './proxies.ts'
import { startRedis, type RedisEngine } from './redis.ts'
import { Requests } from './requests.ts'
import { runProgram } from './run-program.ts'
import { METRICS_TOKEN, Signals } from './signals.ts'
import { Watch } from './watch.ts'

/** Seconds without a fault before the end, so that everything has recovered. */
const QUIET = 8
/** Seconds after the traffic in which every request must have a response. */
const RECOVERY = 60

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    engine: { type: 'string', default: 'sqlite' },
    processes: { type: 'string', default: '3' },
    members: { type: 'string', default: '12' },
    calm: { type: 'boolean', default: false },
    proxies: { type: 'boolean', default: false },
    pause: { type: 'string', default: '60' },
    only: { type: 'string', default: '' },
    skew: { type: 'string', default: '0' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const begin = Date.now()
const directory = mkdtempSync(join(tmpdir(), 'mortar-soak-'))
chmodSync(directory, 0o755)

log('building the reference application')
const build = await buildApplication(join(directory, 'application'), undefined, { isWatched: true })
const engine = await startEngine(values.engine, directory)
const redis = await startRedis()
try {
  process.exitCode = (await soak(engine, redis)) === 0 ? 0 : 1
} finally {
  await redis.stop()
  await engine.stop()
  rmSync(directory, { recursive: true, force: true })
}
// A request that never gets a response would keep the process alive.
process.exit()

/** @returns the number of faults found. */
async function soak({ title, url }: Engine, { url: redisUrl }: RedisEngine): Promise<number> {
  const { world, proxies } = await prepare(variables(url, redisUrl))
  const { instances, findings, signals } = world
  log(`${instances.length} processes on ${title}`)
  const ended = new EndedSessions()
  const watch = new Watch(world.instances)
  const members = Array.from({ length: Number(values.members) }, (_, i) => new Member(i, { ...world, ended }))
  const auditor = new Requests(world, '10.2.0.1')

  const end = Date.now() + Number(values.seconds) * 1000
  const stopped = (): boolean => Date.now() > end
  const calm = (): boolean => values.calm || Date.now() > end - QUIET * 1000
  // A member that cannot log in is a finding already.
  const settle = (work: Promise<void>): Promise<void> => work.catch(() => undefined)
  const traffic = Promise.all([
    ...members.map((member) => settle(member.run(stopped))),
    breakThings(
      world,
      { engine, redis, only: values.only },
      { stopped: calm, log, random: randomOf(values.seed) },
    ),
    signals.follow(instances, stopped),
    audit(stopped, () => ended.tryOne(auditor, world)),
  ])
  await recovered(traffic, { seconds: Number(values.seconds) + RECOVERY, findings })

  log('comparing')
  const comparison = Promise.all([
    ...members.map((member) => settle(member.verify())),
    ended.tryAll(new Requests(world, '10.2.0.2'), world),
  ])
  await recovered(comparison, { seconds: 2 * RECOVERY, findings })
  findings.count(
    'acknowledged writes',
    members.reduce((sum, member) => sum + member.acknowledged, 0),
  )
  findings.count('ended sessions', ended.size)
  for (const { requests } of members) requests.close()
  auditor.close()
  await wait(3000)
  watch.judge(findings)
  signals.judge(findings)
  await Promise.all([
    ...instances.map((instance) => instance.kill()),
    ...proxies.map((proxy) => proxy.stop()),
  ])
  console.log(
    `\n${title}, ${values.processes} processes, ${values.members} members, ${values.seconds} s, --seed ${values.seed}\n`,
  )
  console.log(findings.report())
  console.log(`\n${findings.faults} faults found.`)
  return findings.faults
}

/** Runs the migrations, and starts the processes and the proxies. */
async function prepare(env: Readonly<Record<string, string>>) {
  const migrate = [process.execPath, COMMAND_LINE, 'migrate', 'run']
  await runProgram(migrate, { cwd: build, env: { PATH: process.env['PATH'], ...env } })
  const signals = new Signals()
  const instances = await startInstances(env, signals)
  const proxies = values.proxies ? await startProxies(directory, instances) : []
  const targets = values.proxies ? proxies : instances
  const shared = { findings: new Findings(), disturbances: new Disturbances(), signals }
  return { world: { ...shared, instances, targets, pause: Number(values.pause) }, proxies }
}

/** Waits for work that a broken application would never finish. */
async function recovered(
  work: Promise<unknown>,
  { seconds, findings }: { seconds: number; findings: Findings },
): Promise<void> {
  const late = Symbol('late')
  const first = await Promise.race([work, wait(seconds * 1000, late, { ref: false })])
  if (first === late) findings.add('the application does not recover', `within ${RECOVERY} s`)
}

async function startInstances(env: Readonly<Record<string, string>>, signals: Signals): Promise<Instance[]> {
  const temporary = join(directory, 'tmp')
  mkdirSync(temporary)
  const instances: Instance[] = []
  for (let i = 1; i <= Number(values.processes); i++) {
    const name = `process ${i}`
    const onLine = (text: string, start: number): void => signals.line(`${name}, start ${start}`, text)
    // The clock of the second process is ahead, that of the third one behind.
    const skew = Number(values.skew) * [0, 1, -1][(i - 1) % 3]!
    instances.push(
      new Instance({ name, directory: build, temporary, port: await freePort(), env, skew, onLine }),
    )
  }
  await Promise.all(instances.map((instance) => instance.start()))
  return instances
}

async function audit(stopped: () => boolean, once: () => Promise<void>): Promise<void> {
  while (!stopped()) {
    await once()
    await wait(100)
  }
}

/** Numbers from 0 to 1, the same for a seed (mulberry32). */
function randomOf(seed: string): () => number {
  let state = Number(seed) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function variables(url: string, redisUrl: string): Record<string, string> {
  return {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    APP_URL: 'https://notes.example.com',
    AUTH_SECRET: randomBytes(32).toString('base64url'),
    DATABASE_URL: url,
    REDIS_URL: redisUrl,
    METRICS_TOKEN,
    MAIL_TRANSPORT: 'memory',
    TRUST_PROXY: '127.0.0.1',
    LOG_LEVEL: 'info',
    FRAMEWORK_PROCESSES: values.processes,
  }
}

function log(line: string): void {
  console.log(`${((Date.now() - begin) / 1000).toFixed(1).padStart(6)} s  ${line}`)
}
