import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeRouteFiles } from './route-files.ts'
import { spreadOf } from './statistics.ts'

/** One application started again and again. */
export interface ColdStart {
  readonly name: string
  /** Milliseconds from the start of the process to the end of its first response. */
  readonly ms: Figure
  /** Resident memory right after the first response, in MB; nothing is collected before. */
  readonly megabytes: Figure
  /** Resident memory in MB that it may take; only applications of routes alone have a limit. */
  readonly mostMegabytes: number | undefined
}

/** Of all starts of an application. */
export interface Figure {
  readonly median: number
  readonly least: number
}

interface Application {
  readonly name: string
  /** Path of the script, and its arguments. */
  readonly script: string
  readonly args?: readonly string[]
  readonly path: string
  readonly mostMegabytes?: number
  /** The script that creates the tables when it starts in development. */
  readonly createTables?: string
  /** Variables of its own. */
  readonly env?: Readonly<Record<string, string>>
}

const ROOT = join(import.meta.dirname, '..')
const CLI = join(ROOT, 'src/dist/cli/main.js')

interface Start {
  readonly ms: number
  readonly megabytes: number
}

/**
 * Starts a bare server, an application of routes alone, the reference application with `mortar start`, its largest
 * packages alone, and 1,000 route files, in turns.
 */
export async function coldStarts(runs: number): Promise<ColdStart[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mortar-start-'))
  try {
    const applications = createApplications()
    for (const { createTables, ...each } of applications)
      if (createTables !== undefined)
        await startOnce({ ...each, script: createTables, args: [], env: { NODE_ENV: 'development' } }, folder)
    const starts = applications.map((): Start[] => [])
    for (let run = 0; run < runs; run++)
      for (const [index, application] of applications.entries())
        starts[index]!.push(await startOnce(application, folder))
    return applications.map(({ name, mostMegabytes }, index) => ({
      name,
      ms: figureOf(starts[index]!.map(({ ms }) => ms)),
      megabytes: figureOf(starts[index]!.map(({ megabytes }) => megabytes)),
      mostMegabytes,
    }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function figureOf(values: readonly number[]): Figure {
  return { median: spreadOf(values).median, least: Math.min(...values) }
}

function createApplications(): Application[] {
  const starting = join(import.meta.dirname, 'work/starting')
  const [scanned, listed] = [writeRouteFiles(1000, false), writeRouteFiles(1000, true)]
  const script = join(starting, 'route-files.js')
  return [
    { name: 'raw node:http', script: join(starting, 'raw.js'), path: '/' },
    { name: 'Fastify, one route', script: join(starting, 'fastify.js'), path: '/' },
    { name: 'Mortar, one route', script: join(starting, 'one-route.js'), path: '/', mostMegabytes: 52 },
    {
      name: 'Mortar, ten routes with schemas',
      script: join(starting, 'routes.js'),
      path: '/',
      mostMegabytes: 60,
    },
    { name: 'node:http, TypeORM and better-sqlite3', script: join(starting, 'packages.js'), path: '/' },
    {
      name: 'reference application, `mortar start`',
      script: CLI,
      args: ['start'],
      path: '/notes',
      createTables: join(buildNotes(), 'examples/notes/server.js'),
    },
    { name: '1,000 route files, scanned', script, path: scanned.path, env: { ROUTES: scanned.directory } },
    { name: '1,000 route files, manifest', script, path: listed.path, env: { ROUTES: listed.directory } },
  ]
}

/** Builds the reference application with `mortar build` and returns the folder of the output. */
function buildNotes(): string {
  const { status, stderr } = spawnSync(process.execPath, [CLI, 'build'], { cwd: ROOT, encoding: 'utf8' })
  if (status !== 0) throw new Error(`The reference application was not built:\n${stderr}`)
  return join(ROOT, 'examples/notes/dist')
}

async function startOnce({ script, args = [], path, env }: Application, folder: string): Promise<Start> {
  const port = await freePort()
  const begin = performance.now()
  const child = spawn(process.execPath, [script, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...environment(port, folder), ...env },
  })
  try {
    await firstResponse(port, path, child)
    return { ms: performance.now() - begin, megabytes: residentMegabytes(child.pid!) }
  } finally {
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
}

function environment(port: number, folder: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    NODE_ENV: 'production',
    PORT: String(port),
    HOST: '127.0.0.1',
    AUTH_SECRET: 'Zk3vQ9xL0pWm7RtY5uBn2cHd8fGj1aSeQ4oTi6yUzXs',
    APP_URL: 'https://example.com',
    DATABASE_URL: `sqlite:${join(folder, 'notes.db')}`,
    // A real transport; nothing is sent. The log would only say that the measured build has no manifest and no tables.
    MAIL_TRANSPORT: 'smtp://127.0.0.1:2525',
    LOG_LEVEL: 'error',
  }
}

/** Any status is a response: an anonymous request to a guarded route is one too. */
async function firstResponse(port: number, path: string, child: { exitCode: number | null }): Promise<void> {
  for (const end = performance.now() + 20_000; performance.now() < end; await sleep(1)) {
    if (await responds(port, path)) return
    if (child.exitCode !== null) throw new Error(`The application ended with ${child.exitCode}.`)
  }
  throw new Error('The application does not answer.')
}

function responds(port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    get({ port, path, host: '127.0.0.1', agent: false }, (response) => {
      response.resume().once('end', () => resolve(true))
    }).once('error', () => resolve(false))
  })
}

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net')
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Linux reports it for any process; on other systems it is unknown. */
function residentMegabytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000
  } catch {
    return Number.NaN
  }
}
