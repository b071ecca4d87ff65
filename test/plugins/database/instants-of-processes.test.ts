import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { bundleScript } from '../../support/bundle-script.ts'
import { ZONES } from '../../support/zones.ts'
import { KINDS } from './databases.ts'

const SCRIPT = join(import.meta.dirname, 'fixtures', 'write-instants.ts')

/** Half an hour apart, through the repeated and the missing hour of each zone. */
const INSTANTS = ['2026-10-24T23:00Z', '2026-11-01T02:30Z', '2026-03-29T00:00Z', '2026-03-08T01:30Z'].flatMap(
  (first) => Array.from({ length: 8 }, (_, half) => new Date(Date.parse(first) + half * 1_800_000).toJSON()),
)

for (const [kind, place] of Object.entries(KINDS))
  describe(`processes in different time zones on ${kind}`, () => {
    const database = place()

    it("read the same instants and days, their own and each other's", async () => {
      const db = await database().open()
      await db.query(
        `create table ${kind === 'PostgreSQL' ? `${String(db.driver.schema)}.` : ''}moments (id integer primary key, at ${MOMENT[kind]}, day date)`,
      )
      const written = ZONES.map((_, zone) => INSTANTS.map((at, index) => ({ id: zone * 100 + index, at })))
      const readers = await Promise.all(
        ZONES.map((zone, at) => start(zone, database().options(), written[at]!)),
      )
      const expected = written.flat().map((row) => ({ ...row, day: row.at.slice(0, 10) }))
      for (const read of readers) expect(await read()).to.eql([expected, expected])
    })
  })

const MOMENT: Readonly<Record<string, string>> = {
  SQLite: 'datetime',
  PostgreSQL: 'timestamp(3)',
  MariaDB: 'datetime(3)',
}

/** Starts a process; resolves once it has written its rows, to a function that lets it read. */
async function start(zone: string, options: object, rows: object): Promise<() => Promise<unknown>> {
  const parameters = [options, rows].map((value) => JSON.stringify(value))
  const child = spawn(process.execPath, [await bundleScript(SCRIPT), ...parameters], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TZ: zone },
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ended = once(child, 'close')
  expect((await lines.next()).value).to.equal('written')
  return async () => {
    child.stdin.end()
    const { value } = await lines.next()
    expect(await ended).to.eql([0, null])
    return JSON.parse(value as string)
  }
}
