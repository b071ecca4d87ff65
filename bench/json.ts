// Measures the parsing of JSON bodies beside JSON.parse, in one interleaved run.
// Run: npx tsx --conditions=source bench/json.ts
import { parseJson } from '../src/pipeline/parse-json.ts'

const ROUNDS = 41
const BLOCK_NS = 10_000_000

const paragraph = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor. '.repeat(6)
const rows = (count: number, row: (at: number) => unknown) =>
  JSON.stringify(Array.from({ length: count }, (_, at) => row(at)))
const person = (at: number) => ({
  id: at,
  first_name: `Zoé ${at}`,
  is_active: true,
  score: at / 3,
  tags: ['a', 'b'],
})
const escaped = (text: string) =>
  text.replaceAll(/[^\0-\x7F]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)

const document = JSON.stringify({
  title: 'x',
  blocks: Array.from({ length: 118 }, (_, id) => ({ id, type: 'paragraph', text: paragraph, order: id })),
})
const people = rows(700, person)
const bodies: Readonly<Record<string, string>> = {
  'document, 64 kB': document,
  'document, é escaped': document.replaceAll('e', String.raw`\u00e9`),
  'rows, 62 kB': people,
  'rows, é escaped': escaped(people),
  'Cyrillic, escaped': escaped(rows(40, () => 'Привет мир как дела '.repeat(12))),
  'numbers, 53 kB': rows(9000, (at) => (at * 7919) % 100_000),
  'tiny objects, 64 kB': rows(8000, () => ({ a: 1 })),
  'empty objects, 60 kB': rows(20_000, () => ({})),
  '90 bytes': JSON.stringify(person(1)),
  '95 bytes, é escaped': escaped(JSON.stringify(person(1))),
}

for (const [name, text] of Object.entries(bodies)) {
  const times = timesFor(
    text,
    Math.max(1, Math.ceil(BLOCK_NS / nanoseconds(() => void JSON.parse(text), 200))),
  )
  const ratios = times.map(([plain, ours]) => ours / plain)
  const [plain, ours] = [0, 1].map((column) => median(times.map((pair) => pair[column as 0 | 1])))
  const micro = (value: number | undefined) => (value! / 1000).toFixed(2).padStart(9)
  const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => quantile(ratios, part).toFixed(2))
  console.log(
    `${name.padEnd(22)} JSON.parse ${micro(plain)} µs  parseJson ${micro(ours)} µs  ${middle} [${low}–${high}]`,
  )
}

function timesFor(text: string, runs: number): [number, number][] {
  return Array.from({ length: ROUNDS }, () => [
    nanoseconds(() => void JSON.parse(text), runs),
    nanoseconds(() => void parseJson(text), runs),
  ])
}

/** Of the processor, so that other work on the machine counts little. */
function nanoseconds(act: () => void, runs: number): number {
  const start = process.cpuUsage()
  for (let run = 0; run < runs; run++) act()
  const { user, system } = process.cpuUsage(start)
  return ((user + system) * 1000) / runs
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)]!
}
