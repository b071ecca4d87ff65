import type { Findings } from './findings.ts'
import type { Instance } from './instance.ts'

/** Bounds of one process. An idle process has its pool, its listener, and files of Node. */
const MOST_MEMORY = 400 * 1024 * 1024
const MOST_IDLE_DESCRIPTORS = 60

/** Largest memory and number of file descriptors of all processes so far. */
export class Watch {
  readonly #instances: readonly Instance[]
  #rss = 0
  #descriptors = 0
  readonly #timer: NodeJS.Timeout

  constructor(instances: readonly Instance[]) {
    this.#instances = instances
    this.#timer = setInterval(() => this.#sample(), 500)
    this.#timer.unref()
  }

  /** Call it when no request is in flight: connections of clients must be closed by then. */
  judge(findings: Findings): void {
    clearInterval(this.#timer)
    for (const instance of this.#instances) {
      const usage = instance.usage()
      if (!usage) continue
      findings.count(`MB of memory of ${instance.name} at the end`, Math.round(usage.rss / 1024 / 1024))
      findings.count(`file descriptors of ${instance.name} at the end`, usage.descriptors)
      if (usage.descriptors > MOST_IDLE_DESCRIPTORS)
        findings.add('file descriptors left open', `${instance.name}: ${usage.descriptors}`)
    }
    findings.count('MB of memory at most', Math.round(this.#rss / 1024 / 1024))
    findings.count('file descriptors at most', this.#descriptors)
    if (this.#rss > MOST_MEMORY) findings.add('too much memory', `${this.#rss} bytes`)
  }

  #sample(): void {
    for (const instance of this.#instances) {
      const usage = instance.usage()
      if (!usage) continue
      this.#rss = Math.max(this.#rss, usage.rss)
      this.#descriptors = Math.max(this.#descriptors, usage.descriptors)
    }
  }
}
