import type { Counted, KeyCount } from 'mortar/kit'

/** A counted row. `expire` in milliseconds since the epoch; drivers may return numbers as strings. */
export interface CountedRow {
  readonly key: string
  readonly points: number | string
  readonly expire: number | string
}

/**
 * Returns the SQL condition for a row whose window has not ended. One that ends in more than two windows was written by a
 * clock that was ahead; the clocks of two processes may differ by one window.
 */
export function isActive(written: string, own: string, now: string): string {
  return `${written} > ${now} AND ${written} <= 2 * ${own} - ${now}`
}

/** Sorts by key: processes that lock the same rows in the same order do not block each other. */
export function sorted(counts: readonly KeyCount[]): readonly KeyCount[] {
  return counts.toSorted((one, other) => (one.key < other.key ? -1 : 1))
}

/** Returns the results in the order of the keys, from rows in any order, none of which has expired. */
export function inOrder(counts: readonly KeyCount[], rows: readonly CountedRow[], now: number): Counted[] {
  const byKey = new Map(rows.map((row) => [row.key, row]))
  return counts.map(({ key }) => {
    const { points, expire } = byKey.get(key)!
    return { consumed: Number(points), resetIn: Number(expire) - now }
  })
}

/** Returns the count of the only row, if its window has not ended. */
export function inWindow([row]: readonly CountedRow[], now = Date.now()): Counted | undefined {
  if (row === undefined || Number(row.expire) <= now) return undefined
  return { consumed: Number(row.points), resetIn: Number(row.expire) - now }
}
