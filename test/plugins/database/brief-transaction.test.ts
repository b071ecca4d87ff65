import { expect } from 'chai'
import { briefTransaction, type DataSourceLike } from 'mortar/kit'
import { createDataSource } from '@mortar/database'
import { inSchema, KINDS } from './databases.ts'

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`briefTransaction(): ${kind}`, () => {
    const place = prepare()

    it('commits its work, and limits the silence of its own transaction only', async () => {
      const db = await createDataSource(inSchema(place())).initialize()
      const own = db as unknown as DataSourceLike
      await db.query('create table brief (id int primary key)')
      const limitIn = async (source: Pick<typeof db, 'query'>): Promise<unknown> =>
        kind === 'PostgreSQL' ? source.query('show idle_in_transaction_session_timeout') : undefined
      const limit = await briefTransaction(own, async (tx) => {
        const manager = tx as unknown as typeof db
        await manager.query('insert into brief values (1)')
        return limitIn(manager)
      })
      const setting = 'idle_in_transaction_session_timeout'
      expect(limit).to.deep.equal(kind === 'PostgreSQL' ? [{ [setting]: '10s' }] : undefined)
      expect(await limitIn(db)).to.deep.equal(kind === 'PostgreSQL' ? [{ [setting]: '0' }] : undefined)
      const failing = briefTransaction(own, async (tx) => {
        await (tx as unknown as typeof db).query('insert into brief values (2)')
        throw new Error('rolled back')
      })
      expect(await failing.catch(({ message }: Error) => message)).to.equal('rolled back')
      const rows = (await db.query('select id from brief')) as { readonly id: number }[]
      await db.destroy()
      expect(rows.map(({ id }) => id)).to.deep.equal([1])
    })

    it('repeats its work when the database, whose administrator has chosen another isolation, rolls it back', async () => {
      const options = inSchema(place()) as { readonly extra?: { readonly options: string } }
      const strict = `${options.extra?.options} -c default_transaction_isolation=serializable`
      const db = await createDataSource({
        ...options,
        ...(kind === 'PostgreSQL' && { extra: { options: strict } }),
      } as never).initialize()
      await db.query('create table brief (changes int)')
      await db.query('insert into brief values (0)')
      const change = (): Promise<void> =>
        briefTransaction(db as unknown as DataSourceLike, async (tx) => {
          await (tx as unknown as typeof db).query('update brief set changes = changes + 1')
        })
      const settled = await Promise.allSettled(Array.from({ length: 4 }, change))
      expect(settled.filter(({ status }) => status === 'rejected')).to.deep.equal([])
      const rows = (await db.query('select changes from brief')) as unknown
      await db.destroy()
      expect(rows).to.deep.equal([{ changes: 4 }])
    })

    if (kind === 'MariaDB')
      it('repeats its work when a newer MariaDB refuses to change a row that has changed since it was read', async () => {
        const db = await createDataSource(inSchema(place())).initialize()
        const setting = 'innodb_snapshot_isolation'
        const known = (await db.query(`show variables like '${setting}'`)) as readonly unknown[]
        await db.query('create table brief (changes int)')
        await db.query('insert into brief values (0)')
        let attempts = 0
        const work = briefTransaction(db as unknown as DataSourceLike, async (tx) => {
          const manager = tx as unknown as typeof db
          if (known.length > 0) await manager.query(`set session ${setting} = on`)
          await manager.query('select changes from brief')
          if (attempts++ === 0) await db.query('update brief set changes = 1')
          await manager.query('update brief set changes = changes + 1')
        })
        const result = await work.catch(({ message }: Error) => message)
        const rows = (await db.query('select changes from brief')) as unknown
        await db.destroy()
        expect([result, attempts, rows]).to.deep.equal([
          undefined,
          known.length > 0 ? 2 : 1,
          [{ changes: 2 }],
        ])
      })
  })
