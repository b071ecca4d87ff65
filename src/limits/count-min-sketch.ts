import { createHash } from 'node:crypto'

const ROWS = 4
const WIDTH = 2 ** 18
const LARGEST_16_BIT = 65_535

/**
 * Counts many keys in fixed memory (2 MiB, or 4 MiB for counts above 65,535), allocated by the first addition. An
 * estimate is never below the true count, and above it only for a key that shares its cell in each of four rows
 * (Cormode and Muthukrishnan 2005, with conservative update). test/limits/count-min-sketch.test.ts checks
 * the error.
 */
export class CountMinSketch {
  readonly #largest: number
  #cells: Uint16Array | Uint32Array | undefined

  /** `largest` is the highest distinguishable count; counts stop there. */
  constructor(largest: number) {
    this.#largest = largest
  }

  /** Allocated bytes. */
  get bytes(): number {
    return this.#cells?.byteLength ?? 0
  }

  /** @returns the estimate after the addition. */
  add(key: string, points: number): number {
    const count = Math.min(this.#largest, this.estimate(key) + points)
    this.#raise(key, count)
    return count
  }

  estimate(key: string): number {
    const cells = this.#cells
    return cells === undefined ? 0 : Math.min(...placesOf(key).map((place) => cells[place]!))
  }

  /** Resets every count. */
  clear(): void {
    this.#cells?.fill(0)
  }

  /** Raises only the lowest cells: the others also count other keys. */
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
