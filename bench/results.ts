import type { Round, Series } from './series.ts'
import { pairedRatios, spreadOf, type Spread } from './statistics.ts'
import type { Workload } from './workloads/workload.ts'

/** The rounds of a workload. */
export interface Result {
  readonly workload: Workload
  readonly series: readonly Series[]
}

/** Median and the ends of the middle half. */
export type Triple = readonly [number, number, number]

/** A workload in `bench.json`, from which the table of README.md and that of the goals are made. */
export interface Measured {
  readonly id: string
  readonly title: string
  readonly servers: readonly {
    readonly name: string
    /** Microseconds of CPU per request. */
    readonly cpu: Triple
    /** CPU divided by that of another server in the same round, by its name. */
    readonly ratios: Readonly<Record<string, Triple>>
  }[]
}

/** Reference servers: results of others are divided by theirs if they take part. */
const BASES = ['raw', 'raw-tuned', 'fastify', 'koa', 'mortar, no log', 'fastify, no log']

/** Medians and middle halves of a workload's rounds. */
export function summaryOf({ workload: { id, title }, series }: Result): Measured {
  const bases = series.filter(({ server }) => BASES.includes(server))
  const servers = series.map((each) => ({
    name: each.server,
    cpu: tripleOf(spreadOf(numbers(each, 'cpu')), 1),
    ratios: Object.fromEntries(
      bases.map((base): [string, Triple] => [base.server, tripleOf(cpuRatio(each, base), 3)]),
    ),
  }))
  return { id, title, servers }
}

function tripleOf({ median, q25, q75 }: Spread, digits: number): Triple {
  return [Number(median.toFixed(digits)), Number(q25.toFixed(digits)), Number(q75.toFixed(digits))]
}

/** CPU per request divided by that of another server in the same round. */
export function cpuRatio(series: Series, base: Series | undefined): Spread {
  return pairedRatios(numbers(series, 'cpu'), base ? numbers(base, 'cpu') : [])
}

/** One figure of each round. */
export function numbers(series: Series, key: keyof Round): number[] {
  return series.rounds.map((round) => round[key])
}
