/** Milliseconds after a disturbance in which the application may still be busy with it. */
const RECOVERY = 5000

interface Span {
  readonly from: number
  to: number
}

/** The periods in which something was broken on purpose. A 503 is right only then. */
export class Disturbances {
  readonly #spans: Span[] = []

  /** Runs a disturbance and remembers its period. */
  async during(disturb: () => Promise<void>): Promise<void> {
    const span = { from: Date.now(), to: Number.POSITIVE_INFINITY }
    this.#spans.push(span)
    try {
      await disturb()
    } finally {
      span.to = Date.now() + RECOVERY
    }
  }

  /** Returns true if a request that began at `from` and has just ended overlaps a disturbance. */
  overlap(from: number): boolean {
    return this.#spans.some((span) => span.to >= from)
  }
}
