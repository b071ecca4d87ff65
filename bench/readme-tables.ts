import { judge } from './goals.ts'
import type { Measured, Triple } from './results.ts'

const BEGIN = '<!-- Written by `npm run bench`: -->'
const END = '<!-- until here -->'

/** A row of README's first table: what a workload is called there. */
const ROWS: Readonly<Record<string, string>> = {
  a: 'a small JSON response',
  b: 'validated parameters and query, filtered response',
  c: 'a validated JSON body',
  d: 'a bearer token, 32 clients that send theirs again and again',
  'd:off': 'the same without a cache of verified tokens',
  'd:many': '100,000 tokens in turn',
  'e:1000:last': 'the last of 1,000 routes',
  'e:1000:evenly': 'each of 1,000 routes in turn, with schemas of its own',
  f: 'helmet, cors and request id in front',
  h: 'a list of 20 rows through a response schema',
  i: 'a JSON body of 64 KiB',
  j: 'a Unicode path and 11 query pairs, with escapes',
  k: '422 with three issues',
  l: '404',
  n: 'one log line per request',
}
const COLUMNS = {
  'raw-tuned': 'tuned',
  mortar: 'Mortar',
  fastify: 'Fastify 5',
  koa: 'Koa',
  'koa-stack': 'Koa, router, body, yup, awilix',
} as const

const NOTE_ROWS: Readonly<Record<string, string>> = { 'm:sqlite': 'SQLite', 'm:postgres': 'PostgreSQL' }
const NOTE_COLUMNS = {
  mortar: 'Mortar',
  'fastify-drizzle': 'Fastify, Drizzle',
  'fastify-typeorm': 'Fastify, TypeORM',
  'nest-typeorm': 'NestJS, TypeORM',
  'adonis-lucid': 'AdonisJS, Lucid',
} as const

/** The part of README.md that shows the results, as Markdown. */
export function readmeTables(results: readonly Measured[]): string {
  const parts = [tableOf(results, ROWS, COLUMNS, 'raw')]
  if (results.some(({ id }) => id in NOTE_ROWS))
    parts.push(
      "A user's list of notes from a database, 20 rows and their count, as a multiple of Fastify with the bare driver (better-sqlite3, pg):",
      tableOf(results, NOTE_ROWS, NOTE_COLUMNS, 'fastify'),
    )
  const goals = judge(results)
  const missed = goals.filter(({ isMet }) => !isMet).map(({ workload, base }) => `${workload} ÷ ${base}`)
  parts.push(
    `Of ${goals.length} goals that this run measured, ${goals.length - missed.length} are met` +
      (missed.length === 0 ? '.' : `; missed: ${missed.join(', ')}.`),
  )
  return parts.join('\n\n')
}

function tableOf(
  results: readonly Measured[],
  rows: Readonly<Record<string, string>>,
  columns: Readonly<Record<string, string>>,
  base: string,
): string {
  const names = Object.keys(columns)
  const cells = [
    ['', ...Object.values(columns)],
    ...results
      .filter(({ id }) => id in rows)
      .map(({ id, servers }) => [
        rows[id]!,
        ...names.map((name) => cellOf(servers.find((server) => server.name === name)?.ratios[base])),
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

/** README.md with its tables replaced. @throws Error when their marks are missing. */
export function withTables(readme: string, results: readonly Measured[]): string {
  const begin = readme.indexOf(BEGIN)
  const end = readme.indexOf(END, begin)
  if (begin === -1 || end === -1) throw new Error(`README.md lacks the lines ${BEGIN} and ${END}.`)
  return `${readme.slice(0, begin + BEGIN.length)}\n\n${readmeTables(results)}\n\n${readme.slice(end)}`
}
