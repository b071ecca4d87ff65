import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { bundleScript } from '../../support/bundle-script.ts'
import { serverUrl } from '../../support/servers.ts'

const SCRIPT = join(import.meta.dirname, 'fixtures/drifted.ts')
const RUNNERS = 'typeorm/(query-runner/BaseQueryRunner|driver/.+QueryRunner)\\.js$'

const AUTUMN = '2026-10-25T01:30:00.000Z'

interface Outcome {
  readonly code?: string
  readonly message?: string
  readonly instants?: readonly string[]
  readonly session?: string
  /** Rows of a connection beside the pool, if there is one. */
  readonly beside?: unknown
  /** Status of a request while the only connection of the pool is in use. */
  readonly busy?: number
  /** Connections that seem to wait for a response after the last one. */
  readonly owed?: number
  /** Outcome of a write on a database that is opened for reading only. */
  readonly refused?: string
  readonly changed: boolean
  readonly warnings: readonly string[]
}

/** A renamed member: the files of its package, the old name and the new one. */
type Drift = readonly [files: string, before: string, after: string]

async function startWith(url: string, [files, before, after]: Drift): Promise<Outcome> {
  const run = promisify(execFile)(process.execPath, [await bundleScript(SCRIPT), url, files, before, after], {
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

  const DRIVERS = 'typeorm/(driver|data-source|query-builder|persistence|metadata|util)/.+\\.js$'
  const parts: Readonly<Record<string, Drift>> = {
    ...Object.fromEntries(
      [
        'afterConnect',
        'disconnect',
        'preparePersistentValue',
        'prepareHydratedValue',
        'normalizeType',
        'createGeneratedMap',
      ].map((name) => [name, [DRIVERS, `\\b${name}\\b`, 'moved'] as const]),
    ),
    'utc of a column': [DRIVERS, '\\butc\\b', 'inUtc'],
    'dataSource of a driver': [DRIVERS, '\\bdataSource\\b', 'source'],
  }

  it('does not start if it renames a member that the brick replaces or sets', async () => {
    const started = Object.entries(parts).map(async ([name, drift]) => {
      const { code, message } = await startWith('sqlite::memory:', drift)
      expect(message).to.match(/^TypeORM \d+\.\d+\.\d+ .+npm ls typeorm/s)
      return [name, code]
    })
    const expected = Object.keys(parts).map((name) => [name, 'MORTAR_DATABASE_TYPEORM'])
    expect(await Promise.all(started)).to.eql(expected)
  })

  for (const [variable, kind, maker] of [
    ['TEST_POSTGRES_URL', 'postgres', 'new this\\.postgres\\.Pool'],
    ['TEST_MARIADB_URL', 'mysql', 'this\\.mysql\\.createPool'],
  ] as const)
    describe(`on ${kind}`, () => {
      const url = serverUrl(variable)
      const file = `typeorm/driver/${kind}/.+Driver\\.js$`

      for (const [what, drift] of Object.entries<Drift>({
        'renames its package of the driver': [file, `\\bthis\\.${kind}\\b`, 'this.library'],
        'makes its pool from another object': [
          file,
          maker,
          kind === 'mysql' ? 'require("mysql2").createPool' : 'new (require("pg")).Pool',
        ],
        // The brick replaces the runners of PostgreSQL and SQLite.
        ...(kind === 'postgres' && {
          'renames createQueryRunner': [DRIVERS, '\\bcreateQueryRunner\\b', 'makeRunner'],
        }),
      }))
        it(`does not start if it ${what}, because dates would be in local time`, async () => {
          expect((await startWith(url, drift)).code).to.equal('MORTAR_DATABASE_TYPEORM')
        })
    })
})

/** Members without which there is no connection beside the pool. */
const NO_SIDE = new Set(['createConnectionOptions', 'Client of the pool'])
const NO_WATCH = 'keeps its sockets elsewhere'
const PG = 'pg/lib/client\\.js$'
const POOL = 'mysql2/lib/(base/)?pool.*\\.js$'
const MYSQL = 'mysql2/lib/(base|commands)/.+\\.js$'

for (const [name, variable, drifts] of [
  [
    'pg',
    'TEST_POSTGRES_URL',
    {
      connection: [[PG, 'this\\.connection\\b', 'this.wire'], NO_WATCH],
      stream: [['pg/lib/(client|connection|query)\\.js$', '(?<!c|config)\\.stream\\b', '.socket'], NO_WATCH],
      getStartupConf: [[PG, '\\bgetStartupConf\\b', 'startSettings'], 'starts its sessions in another way'],
      releasePostgresConnection: [
        ['typeorm/driver/postgres/PostgresQueryRunner\\.js$', '\\breleasePostgresConnection\\b', 'letGo'],
        undefined,
      ],
      'Client of the pool': [['pg-pool/index\\.js$', '\\bthis\\.Client\\b', 'this.Made'], undefined],
      'bytesRead of a socket': [
        [
          'pg/lib/stream\\.js$',
          'new net\\.Socket\\(\\)',
          "Object.defineProperty(new net.Socket(), 'bytesRead', { value: undefined })",
        ],
        NO_WATCH,
      ],
      drain: [['pg/lib/client\\.js$', "'drain'", "'idle'"], NO_WATCH],
      errorMessage: [['pg/lib/.+\\.js$', "'errorMessage'", "'serverError'"], NO_WATCH],
      parameterStatus: [['pg-protocol/dist/.+\\.js$', "'parameterStatus'", "'setting'"], NO_WATCH],
      parameterValue: [['pg-protocol/dist/.+\\.js$', '\\bparameterValue\\b', 'value'], NO_WATCH],
      'status of readyForQuery': [
        ['pg-protocol/dist/messages\\.js$', 'this\\.status = status', 'this.state = status'],
        NO_WATCH,
      ],
      processID: [[PG, '\\bthis\\.processID\\b', 'this.session'], undefined],
    },
  ],
  [
    'mysql2',
    'TEST_MARIADB_URL',
    {
      createConnectionOptions: [
        ['typeorm/driver/mysql/MysqlDriver\\.js$', '\\bcreateConnectionOptions\\b', 'settings'],
        undefined,
      ],
      'end of a command': [
        [
          'mysql2/lib/(commands/command|(base/)?(pool_)?connection)\\.js$',
          "(?<!stream\\.on\\()'end'",
          "'done'",
        ],
        undefined,
      ],
      _allConnections: [[POOL, '\\b_allConnections\\b', 'all'], undefined],
      _freeConnections: [[POOL, '\\b_freeConnections\\b', 'free'], undefined],
      _connectionQueue: [[POOL, '\\b_connectionQueue\\b', 'waiting'], undefined],
      stream: [[MYSQL, '\\b(this|connection)\\.stream\\b', '$1.wire'], NO_WATCH],
      'config of the option stream': [
        [MYSQL, 'opts\\.config\\.stream\\(opts\\)', 'opts.config.stream({})'],
        NO_WATCH,
      ],
    },
  ],
] as const)
  describe(`A later version of ${name}`, () => {
    const url = serverUrl(variable)

    for (const [member, [drift, warning]] of Object.entries<readonly [Drift, string | undefined]>(drifts))
      it(`reads and writes the same with another ${member}, and warns once`, async () => {
        const { instants, warnings, session, beside, busy, owed, refused } = await startWith(url, drift)
        expect(instants).to.eql([AUTUMN, AUTUMN])
        expect(beside).to.eql(NO_SIDE.has(member) ? undefined : [{ one: 1 }])
        expect({ busy, owed }).to.eql({ busy: 503, owed: 0 })
        expect(session).to.match(/^(UTC|\+00:00)$/)
        expect(refused).to.match(/read.?only/i)
        const expected = warning === undefined ? [] : [warning]
        expect(warnings).to.have.length(expected.length)
        for (const text of expected)
          expect(warnings[0]).to.match(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ ${text}.+ Install `, 's'))
      })
  })
