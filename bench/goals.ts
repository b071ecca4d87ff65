import { cpuRatio, type Result } from './results.ts'

/** Most CPU per request that Mortar may take, as a multiple of another server's. */
interface Goal {
  readonly workload: string
  readonly base: string
  readonly most: number
}

const GOALS: readonly Goal[] = [
  { workload: 'a', base: 'raw', most: 1.05 },
  { workload: 'b', base: 'raw', most: 1.05 },
  { workload: 'c', base: 'raw', most: 1.08 },
  { workload: 'd', base: 'raw', most: 0.95 },
  { workload: 'd:off', base: 'raw', most: 1.12 },
  ...['a', 'b', 'c', 'd', 'e'].map((workload) => ({ workload, base: 'fastify', most: 0.92 })),
  { workload: 'f', base: 'koa', most: 0.85 },
  { workload: 'f', base: 'fastify', most: 1 },
]

/** What was aimed at beside what was measured, as a Markdown table; nothing when none of it was measured. */
export function goalTable(results: readonly Result[]): string[] {
  const rows = GOALS.flatMap((goal) =>
    results.filter(({ workload: { id } }) => covers(goal, id)).flatMap((result) => rowOf(goal, result)),
  )
  if (rows.length === 0) return []
  const lines = [
    ['workload', 'Mortar ÷', 'goal', 'measured', ''],
    ['---', '---', '---:', '---:', '---'],
    ...rows,
  ]
  return [`### Goals, CPU per request\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`]
}

function covers({ workload }: Goal, id: string): boolean {
  return id === workload || (workload === 'e' && id.startsWith('e:'))
}

function rowOf({ base, most }: Goal, { workload, series }: Result): string[][] {
  const [own, other] = ['mortar', base].map((name) => series.find(({ server }) => server === name))
  if (!own || !other) return []
  const { median, q25, q75 } = cpuRatio(own, other)
  const measured = `${median.toFixed(2)} [${q25.toFixed(2)}–${q75.toFixed(2)}]`
  return [[workload.id, base, `≤ ${most}`, measured, median <= most ? 'met' : 'missed']]
}
