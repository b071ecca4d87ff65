import type { Measured, Triple } from './results.ts'

const BEGIN = '<!-- Written by `npm run bench`: -->'
const END = '<!-- until here -->'

/** The rows of README's table: what a workload is called there. */
const ROWS: Readonly<Record<string, string>> = {
  c: 'a validated JSON body',
  'd:off': 'a bearer token, without a cache of verified tokens',
  'e:1000:last': 'the last of 1,000 routes',
  k: '422 with three issues',
}
const COLUMNS = {
  mortar: 'Mortar',
  fastify: 'Fastify 5',
  'koa-stack': 'Koa, router, body, yup, awilix',
} as const
const BASE = 'raw'

/** The part of README.md that shows the results, as a Markdown table. */
export function readmeTable(results: readonly Measured[]): string {
  const names = Object.keys(COLUMNS)
  const cells = [
    ['', ...Object.values(COLUMNS)],
    ...results
      .filter(({ id }) => id in ROWS)
      .map(({ id, servers }) => [
        ROWS[id]!,
        ...names.map((name) => cellOf(servers.find((server) => server.name === name)?.ratios[BASE])),
      ]),
  ]
  return aligned(cells)
}

/** A Markdown table as the formatter leaves it: columns of equal width, numbers to the right. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)))
  const lineOf = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join(' | ')} |`
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  const [head, ...others] = rows
  return [head!, rule, ...others].map(lineOf).join('\n')
}

function cellOf(ratio: Triple | undefined): string {
  if (ratio === undefined) return '–'
  const [median, q25, q75] = ratio.map((value) => value.toFixed(2))
  return `${median} [${q25}–${q75}]`
}

/** README.md with its table replaced. @throws Error when their marks are missing. */
export function withTable(readme: string, results: readonly Measured[]): string {
  const begin = readme.indexOf(BEGIN)
  const end = readme.indexOf(END, begin)
  if (begin === -1 || end === -1) throw new Error(`README.md lacks the lines ${BEGIN} and ${END}.`)
  return `${readme.slice(0, begin + BEGIN.length)}\n\n${readmeTable(results)}\n\n${readme.slice(end)}`
}
