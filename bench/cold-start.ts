import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { spreadOf } from './statistics.ts'

const ROOT = join(import.meta.dirname, '..')

/** One application started again and again. */
export interface ColdStart {
  readonly name: string
  /** Milliseconds from the start of the process to the end of its first response: median and least. */
  readonly ms: number
  readonly least: number
  /** Resident memory after the first response. */
  readonly megabytes: number
  /** Whether the limits of a route-only application hold for it. */
  readonly limited: boolean
}

interface Application {
  readonly name: string
  readonly script: string
  readonly path: string
  readonly limited?: boolean
}

/** Starts a bare server, an application of routes alone, and the reference application as it is built for production. */
export async function* coldStarts(runs: number): AsyncGenerator<ColdStart> {
  const folder = mkdtempSync(join(tmpdir(), 'mortar-start-'))
  try {
    for (const { name, script, path, limited = false } of applications()) {
      const starts: { ms: number; megabytes: number }[] = []
      for (let each = 0; each < runs; each++) starts.push(await startOnce(script, path, folder))
      const ms = starts.map((start) => start.ms)
      const megabytes = spreadOf(starts.map((start) => start.megabytes)).median
      yield { name, ms: spreadOf(ms).median, least: Math.min(...ms), megabytes, limited }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function applications(): Application[] {
  const starting = join(import.meta.dirname, 'work/starting')
  return [
    { name: 'raw node:http', script: join(starting, 'raw.js'), path: '/' },
    { name: 'Fastify, one route', script: join(starting, 'fastify.js'), path: '/' },
    { name: 'route-only', script: join(starting, 'routes.js'), path: '/', limited: true },
    { name: 'reference application (examples/notes)', script: buildReference(), path: '/notes' },
  ]
}

/** Compiles `examples/notes` and `config` beside the package. @returns its server module. */
function buildReference(): string {
  const project = join(ROOT, 'dist/tsconfig.reference.json')
  writeFileSync(
    project,
    JSON.stringify({
      extends: '../tsconfig.json',
      compilerOptions: {
        noEmit: false,
        outDir: 'reference',
        customConditions: [],
        types: ['node'],
        rootDir: '..',
      },
      include: ['../examples/notes', '../config'],
      exclude: ['../examples/notes/test'],
    }),
  )
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The reference application does not compile:\n${stdout}`)
  return join(ROOT, 'dist/reference/examples/notes/server.js')
}

async function startOnce(
  script: string,
  path: string,
  folder: string,
): Promise<{ ms: number; megabytes: number }> {
  const port = await freePort()
  const begin = performance.now()
  const child = spawn(process.execPath, [script], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: environment(port, folder),
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
    AUTH_SECRET: 'x'.repeat(43),
    APP_URL: 'https://example.com',
    DATABASE_URL: `sqlite:${join(folder, 'notes.db')}`,
    MAIL_TRANSPORT: 'memory',
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

/** Linux tells it of any process; elsewhere it is not known. */
function residentMegabytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000
  } catch {
    return Number.NaN
  }
}
