/** Everything that the soak found wrong, by kind, and its plain counts. */
export class Findings {
  readonly #details = new Map<string, string[]>()
  readonly #counts = new Map<string, number>()

  /** Records a fault of the application. */
  add(kind: string, detail: string): void {
    const details = this.#details.get(kind) ?? []
    details.push(`${new Date().toISOString().slice(11, 23)} ${detail}`)
    this.#details.set(kind, details)
  }

  /** Counts an event that is not a fault. */
  count(what: string, by = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + by)
  }

  countOf(what: string): number {
    return this.#counts.get(what) ?? 0
  }

  get faults(): number {
    return [...this.#details.values()].reduce((sum, details) => sum + details.length, 0)
  }

  /** Returns the report: counts first, then up to five examples of each kind of fault. */
  report(): string {
    const counts = [...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const lines = counts.map(([what, count]) => `${String(count).padStart(8)}  ${what}`)
    for (const [kind, details] of this.#details) {
      lines.push('', `FOUND ${details.length} × ${kind}`)
      lines.push(...details.slice(0, 5).map((detail) => `  ${detail}`))
    }
    return lines.join('\n')
  }
}
