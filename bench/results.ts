import type { Round, Series } from './measure.ts'
import { pairedRatios, type Spread } from './statistics.ts'
import type { Workload } from './workloads.ts'

/** What was measured of a workload. */
export interface Result {
  readonly workload: Workload
  readonly series: readonly Series[]
}

/** CPU per request divided by that of another server in the same round. */
export function cpuRatio(series: Series, base: Series | undefined): Spread {
  return pairedRatios(numbers(series, 'cpu'), base ? numbers(base, 'cpu') : [])
}

/** One figure of each round. */
export function numbers(series: Series, key: keyof Round): number[] {
  return series.rounds.map((round) => round[key])
}
