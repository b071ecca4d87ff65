import { cpuRatio, type Result } from './results.ts'
import type { Spread } from './statistics.ts'

const WIDTH = 860
const LEFT = 120
const RIGHT = 70
const ROW = 18
const PANEL_HEAD = 52
const TICKS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200]

/** CPU per request against raw node:http, a panel for each workload: the median and the middle half, on a log scale. */
export function plot(results: readonly Result[]): string {
  const panels = results.map(panelOf)
  const most = Math.max(2, ...panels.flatMap(({ rows }) => rows.map(({ ratio }) => ratio.q75)))
  const x = (ratio: number): number =>
    LEFT + (Math.log(ratio / 0.5) / Math.log((most * 1.1) / 0.5)) * (WIDTH - LEFT - RIGHT)
  const ticks = TICKS.filter((tick) => tick <= most * 1.1)
  let y = 30
  const parts: string[] = []
  for (const { title, rows } of panels) {
    parts.push(drawPanel({ title, rows }, y, { x, ticks }))
    y += PANEL_HEAD + rows.length * ROW + 14
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}" font-family="system-ui, sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
<text x="${LEFT}" y="18" font-weight="600">CPU per request ÷ raw node:http (log scale; median, middle half of the rounds)</text>
${parts.join('\n')}
</svg>
`
}

interface Row {
  readonly server: string
  readonly ratio: Spread
}

interface Panel {
  readonly title: string
  readonly rows: readonly Row[]
}

function panelOf({ workload, series }: Result): Panel {
  const raw = series.find(({ server }) => server === 'raw')
  const rows = series
    .map((each) => ({ server: each.server, ratio: cpuRatio(each, raw) }))
    .toSorted((a, b) => a.ratio.median - b.ratio.median)
  return { title: `${workload.id}: ${workload.title}`, rows }
}

type Scale = (ratio: number) => number

interface Axis {
  readonly x: Scale
  readonly ticks: readonly number[]
}

function drawPanel({ title, rows }: Panel, top: number, { x, ticks }: Axis): string {
  const first = top + PANEL_HEAD
  const bottom = first + (rows.length - 1) * ROW + 8
  const grid = ticks.map((tick) => {
    const at = x(tick).toFixed(1)
    const colour = tick === 1 ? '#888' : '#ddd'
    return `<line x1="${at}" x2="${at}" y1="${first - 10}" y2="${bottom}" stroke="${colour}"/><text x="${at}" y="${first - 13}" text-anchor="middle" font-size="10" fill="#666">${tick}</text>`
  })
  const bars = rows.map((row, index) => drawRow(row, first + index * ROW, x))
  return `<text x="8" y="${top + 16}" font-weight="600">${escape(title)}</text>\n${[...grid, ...bars].join('\n')}`
}

function drawRow({ server, ratio }: Row, y: number, x: Scale): string {
  const colour = server === 'mortar' ? '#c2410c' : '#475569'
  const [q25, median, q75] = [ratio.q25, ratio.median, ratio.q75].map((value) =>
    x(Math.max(value, 0.5)).toFixed(1),
  )
  return `<text x="${LEFT - 10}" y="${y + 4}" text-anchor="end" fill="${colour}">${escape(server)}</text>
<line x1="${q25}" x2="${q75}" y1="${y}" y2="${y}" stroke="${colour}" stroke-width="3" stroke-opacity=".45"/>
<circle cx="${median}" cy="${y}" r="4" fill="${colour}"/><text x="${WIDTH - 8}" y="${y + 4}" text-anchor="end" fill="${colour}">${ratio.median.toFixed(2)}</text>`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
