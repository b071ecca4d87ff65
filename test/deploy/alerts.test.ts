import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createApp } from 'mortar'
import { metrics } from '@mortar/metrics'
import { ROOT } from '../architecture/tree.ts'
import { readDeployFile } from './files.ts'

/** The names of metrics; the rest of an expression is PromQL, and `up` is a metric of Prometheus itself. */
const METRIC = /\b(?:http_server|database|auth|limits|mortar|nodejs|process)_\w+/g

const metricsIn = (text: string): readonly string[] => [...new Set(text.match(METRIC))]

/** Expressions of the alerts and of the dashboard. */
const EXPRESSIONS: Readonly<Record<string, readonly string[]>> = {
  'alerts.yaml': [
    ...readDeployFile('alerts.yaml').matchAll(/expr: (?:>-\n)?([\s\S]*?)\n {8}(?:for|labels):/g),
  ].map(([, expression]) => expression!),
  'dashboard.json': (
    JSON.parse(readDeployFile('dashboard.json')) as { panels: { targets: { expr: string }[] }[] }
  ).panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
}

const documented = metricsIn(
  readFileSync(join(ROOT, 'docs/metrics.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .join('\n'),
)

const pages = readdirSync(join(ROOT, 'docs'))
  .filter((page) => page.endsWith('.md'))
  .map((page) => readFileSync(join(ROOT, 'docs', page), 'utf8'))
  .join('\n')

/** The source files of the framework and its bricks. */
const sources = (): string =>
  ['src', 'plugins']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(ROOT, folder, file),
      ),
    )
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')

describe('The alerts and the dashboard', () => {
  it('use only metrics that the documentation lists, or that the process has', async () => {
    const app = createApp({ environment: 'test' }).use(metrics({ token: 'a-token-of-the-tests' }))
    const { payload } = await app.inject({
      method: 'GET',
      url: '/metrics',
      headers: { authorization: 'Bearer a-token-of-the-tests' },
    })
    await app.close()
    const known = new Set([...documented, ...metricsIn(payload)])
    for (const [file, expressions] of Object.entries(EXPRESSIONS)) {
      expect(expressions.length, file).to.be.greaterThan(12)
      const used = expressions.flatMap(metricsIn).map((name) => name.replace(/_(?:count|bucket)$/, ''))
      expect(used.length, file).to.be.greaterThan(12)
      expect(
        used.filter((name) => !known.has(name)),
        file,
      ).to.deep.equal([])
    }
  })

  it('cover every metric that the documentation lists for the framework', () => {
    const used = Object.values(EXPRESSIONS).flat().join('\n')
    expect(documented.filter((name) => !used.includes(name))).to.deep.equal([])
  })

  it('belong to a documentation that lists what the code has', () => {
    const code = sources().replaceAll(
      'database_pool_${name}',
      'database_pool_used database_pool_idle database_pool_waiting',
    )
    expect(documented.length).to.be.greaterThan(15)
    expect(documented.filter((name) => !code.includes(name))).to.deep.equal([])
    const added = [...code.matchAll(/gauges\.add\('(\w+)'/g)].map(([, name]) => name!)
    // Those of a brick may be on the page of the brick.
    expect(added.filter((name) => !pages.includes(`\`${name}\``))).to.deep.equal([])
  })
})
