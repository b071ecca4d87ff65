import { setTimeout as wait } from 'node:timers/promises'
import type { Findings } from './findings.ts'
import type { Instance } from './instance.ts'

/** Milliseconds within which a probe shows a loss of service. */
const NOTICED = 15_000
/** Losses that are shorter may fall between two runs of a check, whose results are kept for 5 s. */
const LONG = 6000
/** Most lines of one kind that one cause may write in one process. */
const MOST_LINES = 3

interface Line {
  readonly level: unknown
  readonly msg: string
  readonly event?: string
  readonly code?: string
  readonly reason?: string
  readonly err?: { readonly message?: string }
}

interface Cause {
  readonly name: string
  readonly from: number
  /** Lines by process and kind. */
  readonly lines: Map<string, number>
  firstLoss: number | undefined
  lastLoss: number | undefined
  noticedAt: number | undefined
}

/** The view of an operator on each fault: lines of the log, and `/readyz` of every process, asked once a second. */
export class Signals {
  readonly #causes: Cause[] = []

  /** Begins the time of a fault, which ends with the next one. */
  begin(name: string): void {
    this.#causes.push({
      name,
      from: Date.now(),
      lines: new Map(),
      firstLoss: undefined,
      lastLoss: undefined,
      noticedAt: undefined,
    })
  }

  /** Counts a line of a process from warnings on. */
  line(instance: string, text: string): void {
    const cause = this.#causes.at(-1)
    if (cause === undefined || !text.startsWith('{')) return
    const { level, msg, event = '', code = '', reason, err } = JSON.parse(text) as Line
    if (Number(level) < 40 && !['warn', 'error', 'fatal'].includes(String(level))) return
    const why = reason ?? err?.message ?? ''
    const kind = [instance, event, code, `${msg} ${why}`.replaceAll(/\d+/g, 'N')].join(' | ')
    cause.lines.set(kind, (cause.lines.get(kind) ?? 0) + 1)
  }

  /** Counts a response with 503. */
  lost(): void {
    const cause = this.#causes.at(-1)
    if (cause === undefined) return
    cause.firstLoss ??= Date.now()
    cause.lastLoss = Date.now()
  }

  /** Asks every process for its readiness until `stopped()`. */
  async follow(instances: readonly Instance[], stopped: () => boolean): Promise<void> {
    while (!stopped()) {
      await Promise.all(instances.map((instance) => this.#probe(instance)))
      await wait(1000)
    }
  }

  async #probe({ port }: Instance): Promise<void> {
    const signal = AbortSignal.timeout(2000)
    const shown = await fetch(`http://127.0.0.1:${port}/readyz`, { signal })
      .then(async (response) => [response.status, await response.text()] as const)
      .catch(() => [0, ''] as const)
    const cause = this.#causes.at(-1)
    if (cause === undefined || (shown[0] === 200 && !shown[1].includes('failed'))) return
    cause.noticedAt ??= Date.now()
  }

  judge(findings: Findings): void {
    const most = new Map<string, number>()
    for (const cause of this.#causes) {
      let total = 0
      const processes = new Map<string, number>()
      for (const [kind, lines] of cause.lines) {
        total += lines
        const process = kind.split(' | ')[0]!
        processes.set(process, (processes.get(process) ?? 0) + lines)
        if (lines > MOST_LINES)
          findings.add('more lines than three of one cause', `${cause.name}: ${lines} × ${kind}`)
        const key = kind.split(' | ').slice(1).join(' | ')
        findings.count(`lines: ${key}`, lines)
      }
      const worst = Math.max(0, ...processes.values())
      most.set(cause.name, Math.max(most.get(cause.name) ?? 0, worst))
      findings.count(`lines of all processes: ${cause.name}`, total)
      this.#judgeProbes(cause, findings)
    }
    for (const [name, lines] of most)
      findings.count(`lines of one process at most, one cause: ${name}`, lines)
  }

  #judgeProbes({ name, from, firstLoss, lastLoss, noticedAt }: Cause, findings: Findings): void {
    if (firstLoss === undefined || lastLoss === undefined) return
    findings.count(`causes with 503: ${name}`)
    if (noticedAt !== undefined && noticedAt - firstLoss <= NOTICED)
      findings.count(`causes that /readyz showed: ${name}`)
    else if (lastLoss - firstLoss >= LONG)
      findings.add(
        'a loss of service that no probe shows',
        `${name}, ${lastLoss - firstLoss} ms from ${new Date(from).toISOString()}`,
      )
  }
}
