import { setTimeout as wait } from 'node:timers/promises'
import type { Findings } from './findings.ts'
import type { Instance } from './instance.ts'

export const METRICS_TOKEN = 'soak-soak-soak-soak-soak-soak-soak-soak'

/** Milliseconds within which a probe shows a loss of service. */
const NOTICED = 15_000
/** Losses that are shorter may fall between two runs of a check, whose results are kept for 5 s. */
const LONG = 6000
const MINUTE = 60_000
/** Most lines of one cause in any minute of one process. */
const MOST_LINES = 3

interface Line {
  readonly level: unknown
  /** Milliseconds since the epoch by the process, whose output may arrive late. */
  readonly time: number
  readonly msg: string
  readonly event?: string
  readonly code?: string
  readonly reason?: string
  readonly err?: { readonly message?: string }
}

interface Cause {
  readonly name: string
  readonly from: number
  firstLoss: number | undefined
  lastLoss: number | undefined
  /** Moments at which `/readyz` and the metrics showed it. */
  readonly shown: { probes: number | undefined; metrics: number | undefined }
}

/** The view of an operator on each fault: lines of the log, `/readyz` and the metrics of every process. */
export class Signals {
  readonly #causes: Cause[] = []
  /** Lines by process and server that fails: no line names its fault. */
  readonly #lines = new Map<string, { readonly at: number; readonly text: string }[]>()
  readonly #kinds = new Map<string, number>()
  #mostLines = 0
  /** Responses with 503 by process, as the last scrape counted them. */
  readonly #unavailable = new Map<string, number>()
  /** The most lines that one start of each process has dropped. */
  readonly #dropped = new Map<string, number>()

  /** Begins the time of a fault, which ends with the next one. */
  begin(name: string): void {
    const shown = { probes: undefined, metrics: undefined }
    this.#causes.push({ name, from: Date.now(), firstLoss: undefined, lastLoss: undefined, shown })
  }

  /** Counts a line of a process from warnings on, and the line of a recovery. Events of users have other causes. */
  line(process: string, text: string): void {
    if (this.#causes.length === 0 || !text.startsWith('{') || text.includes('"request.completed"')) return
    const line = JSON.parse(text) as Line
    if (!isCounted(line)) return
    const { time, event, code, msg, err } = line
    const kind = [event, code, msg, err?.message].join(' | ').replaceAll(/\d+/g, 'N').slice(0, 160)
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1)
    if (event?.startsWith('auth.') && event !== 'auth.sessions.unknown') return
    const key = `${process}, ${serverOf(line)}`
    const lines = this.#lines.get(key) ?? []
    lines.push({ at: time, text: msg })
    this.#lines.set(key, lines)
  }

  /** Counts a response with 503. */
  lost(): void {
    const cause = this.#causes.at(-1)
    if (cause === undefined) return
    cause.firstLoss ??= Date.now()
    cause.lastLoss = Date.now()
  }

  /** Asks every process for its readiness and its metrics until `stopped()`. */
  async follow(instances: readonly Instance[], stopped: () => boolean): Promise<void> {
    while (!stopped()) {
      await Promise.all(instances.flatMap((instance) => [this.#probe(instance), this.#scrape(instance)]))
      await wait(1500)
    }
  }

  async #probe({ port }: Instance): Promise<void> {
    const [status, text] = await get(`http://127.0.0.1:${port}/readyz`)
    if (status !== 200 || text.includes('failed')) this.#show('probes')
  }

  async #scrape({ name, port }: Instance): Promise<void> {
    const [status, text] = await get(`http://127.0.0.1:${port}/metrics`)
    const known = this.#unavailable.get(name) ?? 0
    const values = [...text.matchAll(/^mortar_unavailable_total\{.*\} (\d+)$/gm)]
    const count = values.reduce((sum, [, value]) => sum + Number(value), 0)
    if (status === 200) this.#unavailable.set(name, count)
    const dropped = Number(/^mortar_log_lines_dropped_total(?:\{.*\})? (\d+)$/m.exec(text)?.[1] ?? 0)
    this.#dropped.set(name, Math.max(dropped, this.#dropped.get(name) ?? 0))
    if (status !== 200 || count > known || /^mortar_health_check\{.*\} 0$/m.test(text)) this.#show('metrics')
  }

  #show(where: keyof Cause['shown']): void {
    const cause = this.#causes.at(-1)
    if (cause !== undefined) cause.shown[where] ??= Date.now()
  }

  judge(findings: Findings): void {
    for (const [process, lines] of this.#lines) this.#judgeLines(process, lines, findings)
    findings.count('lines of one cause in a minute at most', this.#mostLines)
    for (const [name, count] of this.#dropped) findings.count(`lines that ${name} dropped`, count)
    for (const [kind, count] of this.#kinds) findings.count(`lines: ${kind}`, count)
    for (const cause of this.#causes) this.#judgeCause(cause, findings)
  }

  #judgeLines(process: string, lines: readonly { at: number; text: string }[], findings: Findings): void {
    for (const { at } of lines) {
      const minute = lines.filter((line) => line.at >= at && line.at < at + MINUTE)
      this.#mostLines = Math.max(this.#mostLines, minute.length)
      if (minute.length <= MOST_LINES) continue
      const texts = minute.map(({ text }) => `\n    ${text}`).join('')
      findings.add('more lines than three of one cause in a minute', `${process}: ${minute.length}${texts}`)
      return
    }
  }

  #judgeCause({ name, from, firstLoss, lastLoss, shown }: Cause, findings: Findings): void {
    if (firstLoss === undefined || lastLoss === undefined) return
    findings.count(`causes with 503: ${name}`)
    const isSoon = (at: number | undefined): boolean => at !== undefined && at - firstLoss <= NOTICED
    for (const [where, at] of Object.entries(shown))
      if (isSoon(at)) findings.count(`causes that the ${where} showed: ${name}`)
    const length = lastLoss - firstLoss
    if (!isSoon(shown.metrics) && !isSoon(shown.probes) && length >= LONG)
      findings.add(
        'a loss of service that nothing shows',
        `${name}, ${length} ms from ${new Date(from).toISOString()}`,
      )
  }
}

/** A 503 without a server, such as a refresh that another one overtook, and a mistake are causes of their own. */
function serverOf({ code, msg, reason }: Line): string {
  if (code === 'service_unavailable') return 'a decision'
  if (msg === 'Request failed') return 'mistakes'
  return /redis|limits/i.test(`${msg} ${reason}`) ? 'Redis' : 'the rest'
}

function isCounted({ level, event }: Line): boolean {
  return Number(level) >= 40 || event === 'outage.over'
}

async function get(url: string): Promise<readonly [status: number, text: string]> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  return fetch(url, { headers, signal: AbortSignal.timeout(2000) })
    .then(async (response) => [response.status, await response.text()] as const)
    .catch(() => [0, ''] as const)
}
