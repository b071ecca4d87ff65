import { createHash } from 'node:crypto'

const ROWS = 4
const WIDTH = 2 ** 18
const LARGEST_16_BIT = 65_535

/**
 * Counts many keys in fixed room (2 MiB, or 4 MiB for counts above 65,535), which is reserved by the first addition. An
 * estimate is never below the true count; it is above it only for a key that shares its place in each of four rows
 * (Cormode and Muthukrishnan 2005, with conservative update). Held to its error by
 * test/plugins/auth/limits/count-min-sketch.test.ts.
 */
export class CountMinSketch {
  readonly #largest: number
  #cells: Uint16Array | Uint32Array | undefined

  /** `largest` is the count that has to be told from smaller ones; counts stop there. */
  constructor(largest: number) {
    this.#largest = largest
  }

  /** Bytes that are reserved. */
  get bytes(): number {
    return this.#cells?.byteLength ?? 0
  }

  /** @returns the estimate, after adding to it. */
  add(key: string, points: number): number {
    const count = Math.min(this.#largest, this.estimate(key) + points)
    this.#raise(key, count)
    return count
  }

  estimate(key: string): number {
    const cells = this.#cells
    return cells === undefined ? 0 : Math.min(...placesOf(key).map((place) => cells[place]!))
  }

  /** Forgets every count. */
  clear(): void {
    this.#cells?.fill(0)
  }

  /** Raises the lowest cells only: the others count other keys as well. */
  #raise(key: string, count: number): void {
    this.#cells ??=
      this.#largest > LARGEST_16_BIT ? new Uint32Array(ROWS * WIDTH) : new Uint16Array(ROWS * WIDTH)
    for (const place of placesOf(key)) if (this.#cells[place]! < count) this.#cells[place] = count
  }
}

/** One place in each row. */
function placesOf(key: string): number[] {
  const hash = createHash('sha256').update(key).digest()
  return Array.from({ length: ROWS }, (_, row) => row * WIDTH + (hash.readUInt32BE(4 * row) % WIDTH))
}
