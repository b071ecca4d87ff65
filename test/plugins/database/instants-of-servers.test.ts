import { createRequire } from 'node:module'
import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { createDataSource, openDataSource } from '@mortar/database'
import { serverUrl } from '../../support/servers.ts'
import { inZone, ZONES } from '../../support/zones.ts'
import { type TestDatabase, KINDS } from './databases.ts'

/** The used part of the package pg, which has no types. */
interface Pg {
  readonly Client: new (options: object) => {
    connect(): Promise<unknown>
    query(sql: string, values: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>
    end(): Promise<void>
  }
}

/** Opens a connection with further options of the driver. */
async function withExtra(
  place: TestDatabase,
  extra: object,
  work: (db: DataSource) => Promise<void>,
): Promise<void> {
  const db = createDataSource({ ...place.options(), extra })
  try {
    await openDataSource(db)
    await work(db)
  } finally {
    await db.destroy()
  }
}

describe('instants of PostgreSQL', () => {
  const url = serverUrl('TEST_POSTGRES_URL')
  const database = KINDS['PostgreSQL']!('suite')
  let db: DataSource
  before(async () => {
    db = await database().open()
  })

  /** Reads one value, in every zone the same. */
  async function valueOf(sql: string, parameters: unknown[] = [], from = db): Promise<unknown> {
    const read = async (): Promise<unknown> =>
      (await from.query(`select ${sql} as value`, parameters))[0].value
    const values = []
    for (const zone of ZONES) values.push(await inZone(zone, read))
    for (const value of values) expect(value).to.eql(values[0])
    return values[0]
  }

  it('are read exactly from every form in which the server writes them', async () => {
    const moments: Record<string, unknown> = {
      '2026-10-25 01:30:00': '2026-10-25T01:30:00.000Z',
      '2026-10-25 01:30:00.1': '2026-10-25T01:30:00.100Z',
      '2026-10-25 01:30:00.019999': '2026-10-25T01:30:00.019Z',
      '0001-01-01 00:00:00': '0001-01-01T00:00:00.000Z',
      '0099-12-31 23:59:59.999': '0099-12-31T23:59:59.999Z',
      '9999-12-31 23:59:59.999': '9999-12-31T23:59:59.999Z',
      '10000-01-01 00:00:00': '+010000-01-01T00:00:00.000Z',
      '275760-09-13 00:00:00': '+275760-09-13T00:00:00.000Z',
      '0001-12-31 00:00:00 BC': '0000-12-31T00:00:00.000Z',
      '4713-01-01 00:00:00.5 BC': '-004712-01-01T00:00:00.500Z',
    }
    for (const [text, iso] of Object.entries(moments))
      for (const type of ['timestamp', 'timestamptz']) {
        const date = new Date(iso as string)
        expect(await valueOf(`${type} '${text}'`), `${type} ${text}`).to.eql(date)
        expect(await valueOf(`array[null, ${type} '${text}']`)).to.eql([null, date])
        const written = new Date(text.includes('.0199') ? '2026-10-25T01:30:00.019Z' : date)
        expect(await valueOf(`$1::${type}`, [written]), `${type} of ${text}`).to.eql(written)
        expect(await valueOf(`$1::${type}[]`, [[[written], [null]]])).to.eql([[written], [null]])
      }
  })

  it('are read to the millisecond', async () => {
    const [{ values }] = await db.query(
      `select array(select timestamp '2026-01-01' + ms * interval '1 ms' from generate_series(0, 999) ms) as values`,
    )
    const expected = Array.from({ length: 1000 }, (_, ms) => new Date(Date.UTC(2026, 0, 1, 0, 0, 0, ms)))
    expect(values).to.eql(expected)
    for (const date of expected)
      expect(await db.query('select $1::timestamp as v', [date])).to.eql([{ v: date }])
  })

  it('may be infinite, and plain days are strings', async () => {
    expect(await valueOf(`timestamp 'infinity'`)).to.equal(Infinity)
    expect(await valueOf(`array[timestamptz '-infinity', null]`)).to.eql([-Infinity, null])
    expect(await valueOf(`date '2026-03-29'`)).to.equal('2026-03-29')
    expect(await valueOf(`array[date '2026-03-29', null, 'infinity']`)).to.eql([
      '2026-03-29',
      null,
      'infinity',
    ])
    expect(await valueOf('$1::date', [new Date('2026-03-29')])).to.equal('2026-03-29')
  })

  it('are written in UTC by values that prepare themselves', async () => {
    const at = new Date('2026-10-25T01:30:00Z')
    const range = { toPostgres: (prepare: (value: unknown) => string) => `[${prepare(at)},)` }
    expect(await valueOf('lower($1::tsrange)', [range])).to.eql(at)
    expect(await valueOf(`($1::jsonb ->> 'at')`, [{ at }])).to.equal(at.toISOString())
  })

  it('stay right while a transaction uses another time zone', async () => {
    for (const zone of [
      'Asia/Kolkata',
      'Australia/Brisbane',
      'Europe/Berlin',
      'America/Caracas',
      'Etc/GMT+10',
    ])
      await db.transaction(async (manager) => {
        await manager.query(`set local time zone '${zone}'`)
        for (const iso of ['2026-10-25T01:30:00.250Z', '1850-01-01T00:00:00.000Z']) {
          const [row] = await manager.query('select $1::timestamptz as tz, $2::timestamp as plain', [
            new Date(iso),
            new Date(iso),
          ])
          expect(row, zone).to.eql({ tz: new Date(iso), plain: new Date(iso) })
        }
      })
    expect(await valueOf(`current_setting('TimeZone')`)).to.equal('UTC')
  })

  it("do not depend on the server's time zone or date style", async () => {
    const options = '-c TimeZone=America/St_Johns -c DateStyle=German'
    const at = new Date('2026-10-25T01:30:00.500Z')
    await withExtra(database(), { options }, async (other) => {
      expect(await valueOf('$1::timestamp', [at], other)).to.eql(at)
      expect(await valueOf('$1::timestamptz', [at], other)).to.eql(at)
      const [{ ms }] = await other.query('select extract(epoch from now()::timestamp) * 1000 as ms')
      expect(Math.abs(Number(ms) - Date.now())).to.be.below(60_000)
    })
  })

  it('leave other users of the package pg as they are', async () => {
    const pg = createRequire(import.meta.url)('pg') as Pg
    await inZone('Europe/Berlin', async () => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const { rows } = await client.query(`select timestamp '2026-06-01 12:00' as at, $1 as written`, [
        new Date(0),
      ])
      await client.end()
      expect(rows).to.eql([{ at: new Date('2026-06-01T10:00Z'), written: '1970-01-01T01:00:00.000+01:00' }])
    })
  })
})

describe('instants of MariaDB', () => {
  const database = KINDS['MariaDB']!('suite')

  it("do not depend on the server's time zone, also in a column `timestamp`", async () => {
    const db = await database().open()
    const [{ zone }] = await db.query('select @@session.time_zone as zone')
    expect(zone).to.equal('+00:00')
    await db.query('create table moments (id integer primary key, at timestamp(3) null, day date)')
    const instants = ['2026-03-29T02:30:00.007Z', '2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']
    for (const [id, iso] of instants.entries())
      await inZone(ZONES[id]!, () =>
        db.query('insert into moments values (?, ?, ?)', [id, new Date(iso), iso.slice(0, 10)]),
      )
    for (const reader of ZONES)
      await inZone(reader, async () => {
        expect(await db.query('select at, day from moments order by id')).to.eql(
          instants.map((iso) => ({ at: new Date(iso), day: iso.slice(0, 10) })),
        )
      })
  })

  it("are in the application's time zone where it asks for one", async () => {
    const options = { ...database().options(), timezone: '+02:00' } as Parameters<typeof createDataSource>[0]
    const db = createDataSource(options)
    try {
      await openDataSource(db)
      const [row] = await db.query(
        "select timestamp '2026-06-01 12:00:00' as at, @@session.time_zone as zone",
      )
      expect(row).to.eql({ at: new Date('2026-06-01T10:00Z'), zone: 'SYSTEM' })
    } finally {
      await db.destroy()
    }
  })
})
