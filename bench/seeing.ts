/**
 * Measures what it costs to see requests: CPU time of a small request with subscribers of the request channel, as a
 * share of the time without any. One process for each variant, in turns within each round; the median of the rounds.
 *
 *     node --import tsx --conditions=source bench/seeing.ts [ROUNDS] [ROOT OF ANOTHER VERSION]
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const BLOCK = 8000
const WARM_UP = 5
const ROOT = join(import.meta.dirname, '..')
const NOTHING = 'nothing'
const rounds = Number(process.argv[2] ?? 20)
const other = process.argv[3]

const variants = [
  NOTHING,
  'nothing, a second process',
  'an empty subscriber',
  'metrics()',
  'tracing() without an SDK',
]
const children = new Map<string, ChildProcess>()
for (const variant of variants) children.set(variant, await start(ROOT, variant))
if (other !== undefined) children.set(`nothing, in ${other}`, await start(other, NOTHING))

const times = new Map([...children.keys()].map((name) => [name, [] as number[]]))
for (let round = -WARM_UP; round < rounds; round++) {
  const order = [...children]
  for (const [name, child] of round % 2 === 0 ? order : order.toReversed()) {
    child.send(BLOCK)
    const [time] = (await once(child, 'message')) as [number]
    if (round >= 0) times.get(name)!.push(time)
  }
}
for (const child of children.values()) child.disconnect()

const base = times.get(NOTHING)!
console.log(
  `${rounds} rounds of ${BLOCK} requests\n\n| subscribers | µs of CPU | ratio | of the least |\n| --- | ---: | ---: | ---: |`,
)
for (const [name, own] of times) {
  const ratio = median(own.map((time, round) => time / base[round]!))
  const least = Math.min(...own) / Math.min(...base)
  console.log(`| ${name} | ${median(own).toFixed(2)} | ${ratio.toFixed(3)} | ${least.toFixed(3)} |`)
}

async function start(root: string, variant: string): Promise<ChildProcess> {
  const child = fork(join(ROOT, 'bench/work/seeing.ts'), [root, variant], {
    execArgv: ['--import', 'tsx', '--conditions=source'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  await once(child, 'message')
  return child
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
