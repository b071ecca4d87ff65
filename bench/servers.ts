import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pinned } from './cores.ts'

/** CPU microseconds of a server since its start, and its bytes of memory now. */
export interface Usage {
  readonly cpu: number
  readonly rss: number
}

/** A server under test in a process of its own. */
export interface Server {
  readonly name: string
  readonly port: number
  readonly tokens: readonly string[]
  readonly startMs: number
  /** The file that receives the server's standard output, when it was started with `logs`. */
  readonly logFile: string | undefined
  usage(): Promise<Usage>
  /** Bytes that live after a collection; the server must have been started with `exposeGc`. */
  heap(): Promise<{ readonly heap: number; readonly rss: number }>
  stop(): Promise<void>
}

export interface ServerSpec {
  /** As the tables name it. */
  readonly name: string
  readonly peer: string
  readonly app: string
  readonly size: number
  /** The build of Mortar, when not the one in `dist`. */
  readonly dist?: string | undefined
  /** On all cores instead of its own. */
  readonly onAllCores?: boolean
  readonly exposeGc?: boolean
  /** Standard output goes to a file of its own. */
  readonly logs?: boolean
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a server and waits until it listens. @throws Error when it ends instead. */
export async function startServer(spec: ServerSpec): Promise<Server> {
  const { name, peer, app, size, dist, onAllCores, exposeGc } = spec
  const flags = exposeGc === true ? ['--expose-gc'] : []
  const { NODE_OPTIONS: _, ...inherited } = process.env
  const env = {
    ...inherited,
    NODE_ENV: 'production',
    ...(dist === undefined ? {} : { MORTAR_DIST: dist }),
    ...spec.env,
  }
  const logFile =
    spec.logs === true ? join(mkdtempSync(join(tmpdir(), 'mortar-bench-log-')), 'requests.log') : undefined
  const stdout = logFile === undefined ? 'ignore' : openSync(logFile, 'a')
  const child = fork(`${import.meta.dirname}/server.js`, [peer, app, String(size)], {
    env,
    // Neither the loader nor the conditions that the bench itself runs with.
    ...(onAllCores === true ? { execArgv: flags } : pinned('server', flags)),
    serialization: 'advanced',
    stdio: ['ignore', stdout, 'inherit', 'ipc'],
  })
  if (stdout !== 'ignore') closeSync(stdout)
  const { port, tokens, startMs } = await answerOf<{ port: number; tokens: string[]; startMs: number }>(
    child,
    name,
  )
  return {
    name,
    port,
    tokens,
    startMs,
    logFile,
    usage() {
      child.send('usage')
      return answerOf<Usage>(child, name)
    },
    heap() {
      child.send('heap')
      return answerOf<{ heap: number; rss: number }>(child, name)
    },
    async stop() {
      const gone = once(child, 'exit')
      child.send('stop')
      await gone
      if (logFile !== undefined) rmSync(dirname(logFile), { recursive: true, force: true })
    },
  }
}

function answerOf<T>(child: ChildProcess, name: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null): void => reject(new Error(`The server ${name} ended with ${code}.`))
    const take = (message: unknown): void => {
      if (!isAnswer(message)) return
      child.off('exit', gone).off('message', take)
      resolve(message.answer as T)
    }
    child.once('exit', gone)
    child.on('message', take)
  })
}

/** A framework may send messages of its own. */
function isAnswer(message: unknown): message is { answer: unknown } {
  return typeof message === 'object' && message !== null && 'answer' in message
}
