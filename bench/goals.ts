import type { Measured } from './results.ts'

/** Most CPU per request that Mortar may use, as a multiple of another server's. */
interface Goal {
  /** Id of a workload, or of all workloads whose ids begin with it and a colon. */
  readonly workload: string
  readonly base: string
  readonly most: number
}

const against = (base: string, most: number, workloads: readonly string[]): Goal[] =>
  workloads.map((workload) => ({ workload, base, most }))

export const GOALS: readonly Goal[] = [
  { workload: 'a', base: 'raw', most: 1.05 },
  { workload: 'b', base: 'raw', most: 1.05 },
  { workload: 'c', base: 'raw', most: 1.08 },
  { workload: 'd', base: 'raw', most: 0.95 },
  { workload: 'd:off', base: 'raw', most: 1.12 },
  { workload: 'h', base: 'raw', most: 1.05 },
  { workload: 'i', base: 'raw', most: 1.15 },
  { workload: 'j', base: 'raw', most: 1.1 },
  { workload: 'k', base: 'raw', most: 1.6 },
  { workload: 'l', base: 'raw', most: 1.3 },
  { workload: 'e:1000:evenly', base: 'raw-tuned', most: 1.3 },
  ...against('fastify', 0.92, ['a', 'b', 'c', 'd', 'd:off', 'd:many', 'e']),
  ...against('fastify', 0.92, ['f', 'h', 'i', 'j', 'k', 'l', 'n']),
  { workload: 'f', base: 'koa', most: 0.85 },
  { workload: 'm', base: 'fastify', most: 1.15 },
  { workload: 'n', base: 'mortar, no log', most: 1.2 },
]

/** A goal with its measured value. */
export interface Judged extends Goal {
  readonly median: number
  readonly q25: number
  readonly q75: number
  readonly isMet: boolean
}

/** The goals of the measured workloads, in the order of the workloads. */
export function judge(results: readonly Measured[]): Judged[] {
  return results.flatMap(({ id, servers }) =>
    GOALS.filter(({ workload }) => id === workload || id.startsWith(`${workload}:`))
      // A goal for d:off is not one for d, and the other way round.
      .filter(({ workload, base }) => workload === id || !hasOwnGoal(id, base))
      .flatMap(({ base, most }) => {
        const ratio = servers.find(({ name }) => name === 'mortar')?.ratios[base]
        if (ratio === undefined) return []
        const [median, q25, q75] = ratio
        return [{ workload: id, base, most, median, q25, q75, isMet: median <= most }]
      }),
  )
}

function hasOwnGoal(id: string, base: string): boolean {
  return !/^[em]:/.test(id) || GOALS.some((goal) => goal.workload === id && goal.base === base)
}

/** The goals as a Markdown table; nothing when none of them was measured. */
export function goalTable(results: readonly Measured[]): string[] {
  const goals = judge(results)
  if (goals.length === 0) return []
  const rows = goals.map(({ workload, base, most, median, q25, q75, isMet }) => [
    workload,
    base,
    `≤ ${most}`,
    `${median.toFixed(2)} [${q25.toFixed(2)}–${q75.toFixed(2)}]`,
    isMet ? 'met' : 'missed',
  ])
  const lines = [
    ['workload', 'Mortar ÷', 'goal', 'median [middle half of the rounds]', ''],
    ['---', '---', '---:', '---:', '---'],
    ...rows,
  ]
  const met = goals.filter(({ isMet }) => isMet).length
  const count = `${met} of ${goals.length} are met. A goal is met when the median is not above it.`
  return [
    `### Goals, CPU per request\n\n${count}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`,
  ]
}
