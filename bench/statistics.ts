/** A median with the middle half around it. */
export interface Spread {
  readonly median: number
  readonly q25: number
  readonly q75: number
}

/** The spread of some values; NaN of none. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b)
  return { median: quantile(sorted, 0.5), q25: quantile(sorted, 0.25), q75: quantile(sorted, 0.75) }
}

/** Values divided by those of another series, round by round, because other load slows both. */
export function pairedRatios(values: readonly number[], base: readonly number[]): Spread {
  return spreadOf(values.map((value, round) => value / base[round]!))
}

function quantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) return Number.NaN
  const position = (sorted.length - 1) * share
  const below = sorted[Math.floor(position)]!
  const above = sorted[Math.ceil(position)]!
  return below + (above - below) * (position - Math.floor(position))
}
