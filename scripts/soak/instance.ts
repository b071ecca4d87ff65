import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { COMMAND_LINE } from './application.ts'

const SECONDS_TO_START = 60
/** Milliseconds in which clients do not notice that a process drains; `drainDelay` is 5 s. */
const IGNORES_READINESS = 4000
const READY = /\d+ routes, ready in \d+ ms/

export interface InstanceOptions {
  readonly name: string
  /** Folder of the built application. */
  readonly directory: string
  /** Folder for the temporary files of uploads; each start gets a subfolder. */
  readonly temporary: string
  readonly port: number
  readonly env: Readonly<Record<string, string>>
  /** Seconds by which its clock is wrong. */
  readonly skew: number
  /** Called with each line of its output when it has started, and with the number of the start. */
  readonly onLine: (text: string, start: number) => void
}

/** One process of the application, which can be stopped, killed and started again. */
export class Instance {
  readonly name: string
  readonly port: number
  /** Moment of the last `kill -9`, or 0. */
  killedAt = 0
  /** Moment of the last SIGTERM, or 0. */
  stoppedAt = 0
  up = false
  readonly #options: InstanceOptions
  #child: ChildProcess | undefined
  #starts = 0
  #output = ''

  constructor(options: InstanceOptions) {
    this.name = options.name
    this.port = options.port
    this.#options = options
  }

  /** Lines of its log that contain the id of a request, at most 1,500 characters. */
  linesWith(id: string): string {
    const lines = this.#output.split('\n').filter((line) => line.includes(id))
    return lines.join('\n').slice(0, 1500)
  }

  get output(): string {
    return this.#output.slice(-4000)
  }

  /** @throws Error with the output when the process ends or is not ready in time. */
  async start(): Promise<void> {
    const { directory, env, port, skew } = this.#options
    const start = ++this.#starts
    const temporary = this.#temporary(start)
    mkdirSync(temporary)
    this.#output = ''
    const child = spawn(process.execPath, [COMMAND_LINE, 'start'], {
      cwd: directory,
      env: { PATH: process.env['PATH'], ...clockOf(skew), ...env, PORT: String(port), TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString()
      })
      createInterface(stream).on('line', (text) => this.up && this.#options.onLine(text, start))
    }
    const deadline = Date.now() + SECONDS_TO_START * 1000
    while (!READY.test(this.#output)) {
      if (child.exitCode !== null || Date.now() > deadline)
        throw new Error(`${this.name} did not start (exit code ${child.exitCode}):\n${this.output}`)
      await wait(50)
    }
    this.up = true
  }

  /** True from SIGTERM on while a client that ignores readiness still sends requests. */
  get drains(): boolean {
    return this.up && Date.now() - this.stoppedAt < IGNORES_READINESS + 500
  }

  /** Sends SIGTERM. @returns the exit code and the milliseconds until then; code null after a signal. */
  async stop(): Promise<{ code: number | null; ms: number; leftFiles: string[] }> {
    const child = this.#child!
    this.stoppedAt = Date.now()
    child.kill('SIGTERM')
    setTimeout(() => (this.up = false), IGNORES_READINESS)
    const late = setTimeout(() => child.kill('SIGKILL'), 90_000)
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    clearTimeout(late)
    this.up = false
    const leftFiles = readdirSync(this.#temporary(this.#starts))
    return { code: child.exitCode, ms: Date.now() - this.stoppedAt, leftFiles }
  }

  async kill(): Promise<void> {
    const child = this.#child!
    this.up = false
    this.killedAt = Date.now()
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }

  /** Stops the process as a suspended machine does, and lets it continue. */
  async freeze(ms: number): Promise<void> {
    const child = this.#child!
    child.kill('SIGSTOP')
    await wait(ms)
    child.kill('SIGCONT')
  }

  /** Reads nothing of its output, and sends requests with long paths, until its log cannot be written any more. */
  async leaveUnread(ms: number): Promise<void> {
    const { stdout, stderr } = this.#child!
    for (const stream of [stdout!, stderr!]) stream.pause()
    const end = Date.now() + ms
    while (Date.now() < end) {
      const url = `http://127.0.0.1:${this.port}/${'unread'.repeat(1300)}`
      const sent = Array.from({ length: 10 }, () => fetch(url, { signal: AbortSignal.timeout(2000) }))
      await Promise.allSettled(sent.map(async (each) => (await each).arrayBuffer()))
    }
    for (const stream of [stdout!, stderr!]) stream.resume()
  }

  /** Bytes of memory and open file descriptors, as Linux counts them. */
  usage(): { rss: number; descriptors: number } | undefined {
    const pid = this.#child?.pid
    if (pid === undefined || !this.up) return undefined
    try {
      const rss = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
      return { rss: Number(rss?.[1]) * 1024, descriptors: readdirSync(`/proc/${pid}/fd`).length }
    } catch {
      return undefined
    }
  }

  #temporary(start: number): string {
    return join(this.#options.temporary, `${this.name}-${start}`)
  }
}

/** Makes the clock of a process of Node wrong. Its timers are right. */
function clockOf(seconds: number): Record<string, string> {
  const code = `const Right = Date
globalThis.Date = class Date extends Right {
  static now() { return Right.now() + ${seconds * 1000} }
  constructor(...given) { super(...(given.length > 0 ? given : [Date.now()])) }
}`
  return seconds === 0 ? {} : { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` }
}
