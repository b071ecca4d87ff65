import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { serverUrl } from '../../support/servers.ts'

const SCRIPT = join(import.meta.dirname, 'fixtures/drifted.ts')
const RUNNERS = 'typeorm/(query-runner/BaseQueryRunner|driver/.+QueryRunner)\\.js$'

const AUTUMN = '2026-10-25T01:30:00.000Z'

interface Outcome {
  readonly code?: string
  readonly instants?: readonly string[]
  readonly changed: boolean
  readonly warnings: readonly string[]
}

/** A renamed member: the files of its package, the old name and the new one. */
type Drift = readonly [files: string, before: string, after: string]

async function startWith(url: string, [files, before, after]: Drift): Promise<Outcome> {
  const run = promisify(execFile)(process.execPath, ['--import', 'tsx', SCRIPT, url, files, before, after], {
    env: { ...process.env, TZ: 'Europe/Berlin' },
  })
  const { changed, ...outcome } = JSON.parse((await run).stdout) as Outcome
  expect(changed, 'the change applies').to.equal(true)
  return { ...outcome, changed }
}

describe('A later version of TypeORM', () => {
  const drifts: Readonly<Record<string, Drift>> = {
    transactionDepth: [RUNNERS, '\\btransactionDepth\\b', 'depth'],
    isTransactionActive: [RUNNERS, '\\bisTransactionActive\\b', 'active'],
    isReleased: [RUNNERS, '\\bisReleased\\b', 'released'],
    'the words of BEGIN': [RUNNERS, '"BEGIN TRANSACTION"', '"BEGIN"'],
  }

  it('does not start on SQLite if it renames a member by which the gate knows transactions', async () => {
    const started = Object.entries(drifts).map(async ([name, drift]) => {
      const { code } = await startWith('sqlite::memory:', drift)
      return [name, code]
    })
    const expected = Object.keys(drifts).map((name) => [name, 'MORTAR_DATABASE_GATE'])
    expect(await Promise.all(started)).to.eql(expected)
  })
})

for (const [name, variable, drift] of [
  ['pg', 'TEST_POSTGRES_URL', ['pg/lib/client\\.js$', 'this\\.connection\\b', 'this.wire']],
  [
    'mysql2',
    'TEST_MARIADB_URL',
    ['mysql2/lib/(base|commands)/.+\\.js$', '\\b(this|connection)\\.stream\\b', '$1.wire'],
  ],
] as const)
  describe(`A later version of ${name}`, () => {
    const url = serverUrl(variable)

    it('runs without the watch of silent connections if it keeps the socket elsewhere, and warns once', async () => {
      const { instants, warnings } = await startWith(url, drift)
      expect(instants).to.eql([AUTUMN, AUTUMN])
      expect(warnings.filter((warning) => warning.includes('keeps its sockets elsewhere'))).to.have.length(1)
    })
  })
