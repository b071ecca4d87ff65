import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { DataSource, type EntitySubscriberInterface } from 'typeorm'
import { explainUnavailable } from '../../../plugins/database/connections/unavailable.ts'
import { gateOf, gateTransactions } from '../../../plugins/database/gate/gate-transactions.ts'
import { SQLITE_DRIVERS } from './drivers.ts'
import { insert, type Note, Notes, openPlain, temporaryFolder, texts } from './notes.ts'
import { outcomes, slowTransaction } from './slow-transaction.ts'

const refusal = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error: Error) => error.message,
  )

for (const [kind, driver] of Object.entries(SQLITE_DRIVERS))
  describe(`transactions of TypeORM on ${kind} behind the gate`, () => {
    let dataSource: DataSource
    const folder = temporaryFolder()
    let warnings: string[]
    let timers: (() => void)[]
    beforeEach(async () => {
      dataSource = await openPlain(':memory:', driver)
      warnings = []
      timers = []
      gateTransactions(dataSource, {
        warn: (message) => warnings.push(message),
        schedule: (callback) => {
          timers.push(callback)
          return () => timers.splice(timers.indexOf(callback), 1)
        },
      })
    })
    afterEach(() => dataSource.destroy())

    it('keep a write of another caller when they roll back', async () => {
      const transaction = slowTransaction(dataSource, 'a', 'roll back')
      const write = insert(dataSource.manager, 'b')
      expect(await outcomes([transaction, write])).to.eql(['rejected', 'fulfilled'])
      expect(await texts(dataSource)).to.eql(['b'])
    })

    it('run one after another, in the order in which they began', async () => {
      const order: string[] = []
      const all = ['a', 'b', 'c'].map((name) =>
        dataSource.transaction(async (manager) => {
          order.push(`${name} begins`)
          await insert(manager, name)
          await nextTurn()
          order.push(`${name} ends`)
        }),
      )
      await Promise.all(all)
      expect(order).to.eql(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
    })

    it('all succeed when twenty begin together', async () => {
      const all = Array.from({ length: 20 }, (_, i) => slowTransaction(dataSource, `${i + 10}`, 'commit'))
      expect(await outcomes(all)).not.to.include('rejected')
      expect(await texts(dataSource)).to.have.length(20)
    })

    it('do not let a stream of new transactions starve a plain query', async () => {
      const order: string[] = []
      const first = slowTransaction(dataSource, 'a', 'commit')
      const plain = texts(dataSource).then(() => order.push('plain'))
      const later = ['b', 'c'].map((text) =>
        slowTransaction(dataSource, text, 'commit').then(() => order.push(text)),
      )
      await Promise.all([first, plain, ...later])
      expect(order).to.eql(['plain', 'b', 'c'])
    })

    it('include the transaction that save() opens', async () => {
      const notes = dataSource.getRepository(Notes)
      const failing = notes.save([
        { id: '1', text: 'same' },
        { id: '2', text: 'same' },
      ])
      const fine = notes.save({ id: '3', text: 'fine' })
      const plain = insert(dataSource.manager, 'plain')
      expect(await outcomes([failing, fine, plain])).to.eql(['rejected', 'fulfilled', 'fulfilled'])
      expect(await texts(dataSource)).to.eql(['fine', 'plain'])
    })

    it('include the transactions that remove() and a query builder open', async () => {
      await insert(dataSource.manager, 'old')
      const [old] = await dataSource.manager.find(Notes)
      const rolledBack = slowTransaction(dataSource, 'a', 'roll back')
      const removed = dataSource.manager.remove(Notes, old as Note)
      const built = dataSource
        .createQueryBuilder()
        .insert()
        .into(Notes)
        .values({ id: 'b', text: 'b' })
        .useTransaction(true)
        .execute()
      expect(await outcomes([rolledBack, removed, built])).to.eql(['rejected', 'fulfilled', 'fulfilled'])
      expect(await texts(dataSource)).to.eql(['b'])
    })

    it('nest as savepoints of the same holder', async () => {
      await dataSource.transaction(async (manager) => {
        await insert(manager, 'outer')
        await manager.transaction((inner) => insert(inner, 'kept'))
        await refusal(
          manager.transaction(async (inner) => {
            await insert(inner, 'undone')
            throw new Error('no')
          }),
        )
        await manager.save(Notes, { id: 's', text: 'saved' })
      })
      expect(await texts(dataSource)).to.eql(['kept', 'outer', 'saved'])
    })

    for (const [name, use] of Object.entries({
      'a query': (source: DataSource) => source.query('select 1'),
      'a repository': (source: DataSource) => source.getRepository(Notes).find(),
      'a save': (source: DataSource) => source.manager.save(Notes, { id: '9', text: '9' }),
      'a transaction': (source: DataSource) => source.transaction((manager) => insert(manager, '9')),
      'a query runner made by hand': async (source: DataSource) => {
        const runner = source.createQueryRunner()
        await runner.startTransaction().finally(() => runner.release())
      },
    }))
      it(`reject ${name} on the DataSource inside their callback instead of waiting forever`, async () => {
        const message = await refusal(dataSource.transaction(() => use(dataSource)))
        expect(message).to.include('Use the manager of the transaction')
        await insert(dataSource.manager, 'usable')
        expect(await texts(dataSource)).to.eql(['usable'])
      })

    it('let a callback of another DataSource query this one', async () => {
      const other = await openPlain(':memory:', driver)
      gateTransactions(other)
      await other.transaction(async (manager) => {
        await insert(manager, 'there')
        await dataSource.transaction((inner) => insert(inner, 'here'))
        expect(await refusal(other.query('select 1'))).to.include('would wait for that transaction')
      })
      expect([await texts(dataSource), await texts(other)]).to.eql([['here'], ['there']])
      await other.destroy()
    })

    it('allow work that began inside a transaction to query the DataSource after its end', async () => {
      let late: Promise<string[]> | undefined
      await dataSource.transaction(async (manager) => {
        await insert(manager, 'a')
        late = nextTurn().then(() => texts(dataSource))
      })
      expect(await late).to.eql(['a'])
    })

    it('free the connection when BEGIN fails', async () => {
      const options = {
        type: 'better-sqlite3',
        database: join(folder(), `locked-${kind}.db`),
        driver,
        timeout: 1,
      } as const
      const [ours, theirs] = await Promise.all([1, 2].map(() => new DataSource(options).initialize()))
      gateTransactions(ours!, { busyTimeout: 0.1 })
      await theirs!.query('begin immediate')
      expect(await refusal(ours!.transaction(async () => undefined))).to.include('database is locked')
      const runner = ours!.createQueryRunner()
      expect(await refusal(runner.startTransaction())).to.include('database is locked')
      await theirs!.query('rollback')
      await ours!.transaction((manager) => manager.query('create table t (a)'))
      expect(await refusal(runner.rollbackTransaction())).to.equal('no error')
      await Promise.all([ours!.destroy(), theirs!.destroy()])
    })

    it('free the connection, and write nothing, when a commit fails', async () => {
      await dataSource.query(
        'create table child (id text references notes(id) deferrable initially deferred)',
      )
      const runner = dataSource.createQueryRunner()
      await runner.startTransaction()
      await runner.query("insert into child values ('nobody')")
      expect(await refusal(runner.commitTransaction())).to.include('FOREIGN KEY constraint failed')
      await expectUsable()
      expect(await refusal(runner.rollbackTransaction())).to.equal('no error')
      await runner.release()
      expect(await dataSource.query('select * from child')).to.eql([])
    })

    it('write nothing more after SQLite rolled back a transaction by itself', async () => {
      await insert(dataSource.manager, 'taken')
      const transaction = dataSource.transaction(async (manager) => {
        await insert(manager, 'before')
        await refusal(manager.query("insert or rollback into notes values ('id', 'taken')"))
        await insert(manager, 'after')
      })
      expect(await refusal(transaction)).to.include('This transaction is over')
      expect(await texts(dataSource)).to.eql(['taken'])
    })

    it('write nothing more in the outer transaction after SQLite rolled back everything inside a nested one', async () => {
      await insert(dataSource.manager, 'taken')
      const transaction = dataSource.transaction(async (manager) => {
        const nested = manager.transaction((inner) =>
          inner.query("insert or rollback into notes values ('id', 'taken')"),
        )
        await refusal(nested)
        await insert(manager, 'after')
      })
      expect(await refusal(transaction)).to.include('This transaction is over')
      expect(await texts(dataSource)).to.eql(['taken'])
    })

    it('free the connection when a subscriber throws during COMMIT or ROLLBACK', async () => {
      let hook: keyof EntitySubscriberInterface | undefined
      const fail = (name: typeof hook) => () => {
        if (hook === name) throw new Error(`${name} threw`)
      }
      dataSource.subscribers.push({
        beforeTransactionStart: fail('beforeTransactionStart'),
        afterTransactionStart: fail('afterTransactionStart'),
        beforeTransactionCommit: fail('beforeTransactionCommit'),
        afterTransactionCommit: fail('afterTransactionCommit'),
        beforeTransactionRollback: fail('beforeTransactionRollback'),
        afterTransactionRollback: fail('afterTransactionRollback'),
      })
      for (hook of Object.keys(dataSource.subscribers[0]!) as (typeof hook)[])
        await refusal(
          slowTransaction(dataSource, String(hook), hook?.endsWith('Rollback') ? 'roll back' : 'commit'),
        )
      hook = undefined
      expect(await texts(dataSource)).to.eql(['afterTransactionCommit'])
      await expectUsable()
    })

    it('free the connection when a rollback fails, before the query runner is released', async () => {
      dataSource.subscribers.push({
        beforeTransactionRollback: () => {
          throw new Error('the hook threw')
        },
      })
      const runner = dataSource.createQueryRunner()
      await runner.startTransaction()
      await insert(runner.manager, 'a')
      expect(await refusal(runner.rollbackTransaction())).to.equal('the hook threw')
      expect(gateOf(dataSource)!.current).to.equal(undefined)
      expect(await texts(dataSource)).to.eql([])
      await runner.release()
    })

    it('read a file that was opened with the option readonly', async () => {
      const database = join(folder(), `readonly-${kind}.db`)
      const writer = await openPlain(database, driver)
      await insert(writer.manager, 'a')
      await writer.destroy()
      const options = { database, entities: [Notes], readonly: true, driver }
      const reader = await new DataSource({ type: 'better-sqlite3', ...options }).initialize()
      gateTransactions(reader)
      expect(await reader.transaction((manager) => manager.count(Notes))).to.equal(1)
      await reader.destroy()
    })

    it('reject a query of a subscriber that would wait for the query that notified it', async () => {
      let answer = ''
      dataSource.subscribers.push({
        afterQuery: async (event) => {
          if (event.query === 'select 1') answer = await refusal(dataSource.query('select 2'))
        },
      })
      await dataSource.query('select 1')
      expect(answer).to.include('event.manager')
      await expectUsable()
    })

    it('delay other callers while a query runner of the application has a transaction, and roll back what it leaves open', async () => {
      const runner = dataSource.createQueryRunner()
      await runner.startTransaction()
      await insert(runner.manager, 'left open')
      const waiting = insert(dataSource.manager, 'waits')
      await nextTurn()
      expect(await runner.manager.count(Notes)).to.equal(1)
      await runner.release()
      await waiting
      expect(await texts(dataSource)).to.eql(['waits'])
      expect(warnings).to.have.length(1)
      expect(warnings[0]).to.include('released while its transaction was open')
      expect(await refusal(runner.query('select 1'))).to.include('released')
    })

    it('warn of a plain BEGIN statement and roll it back', async () => {
      await dataSource.query('BEGIN')
      await insert(dataSource.manager, 'a')
      expect(warnings).to.have.length(1)
      await expectUsable()
    })

    it('wait for all running statements of a query runner', async () => {
      const slow = (event: { query: string; parameters?: unknown }) =>
        JSON.stringify(event.parameters)?.includes('slow') ? nextTurn() : undefined
      dataSource.subscribers.push({ beforeQuery: slow })
      const runner = dataSource.createQueryRunner()
      const both = [insert(runner.manager, 'fast'), insert(runner.manager, 'slow')]
      await both[0]
      await outcomes([slowTransaction(dataSource, 'c', 'roll back'), ...both])
      await runner.release()
      expect(await texts(dataSource)).to.eql(['fast', 'slow'])
    })

    it('run all statements of a query runner when its turn comes', async () => {
      const holder = dataSource.createQueryRunner()
      await holder.startTransaction()
      const runner = dataSource.createQueryRunner()
      const begun = runner.startTransaction()
      const second = runner.query('select 1 as one')
      await nextTurn()
      await holder.commitTransaction()
      expect(await Promise.all([begun, second])).to.deep.equal([undefined, [{ one: 1 }]])
      await runner.rollbackTransaction()
      await Promise.all([holder.release(), runner.release()])
      await expectUsable()
    })

    it('warn of a transaction that keeps others waiting, with a timer that runs only while a caller waits', async () => {
      const runner = dataSource.createQueryRunner()
      await runner.startTransaction()
      expect(timers).to.have.length(0)
      const waiting = [insert(dataSource.manager, 'a'), insert(dataSource.manager, 'b')]
      await nextTurn()
      expect(timers).to.have.length(1)
      timers.shift()?.()
      expect(warnings).to.have.length(1)
      expect(warnings[0]).to.include('kept 2 other callers of this SQLite database waiting for 10 s')
      await runner.commitTransaction()
      await runner.release()
      await Promise.all(waiting)
      expect(timers).to.have.length(0)
    })

    it('end by themselves when they wait for a query that waits for them, even if the deadlock is not detected', async () => {
      gateTransactions(dataSource, { findSelfWaits: false })
      const stuck = dataSource
        .transaction(() => dataSource.query('select 1'))
        .catch((error: unknown) => error as Error)
      await nextTurn()
      timers.shift()?.()
      const bystander = insert(dataSource.manager, 'bystander')
      for (let warning = 2; warning <= 3; warning++) {
        await nextTurn()
        timers.shift()?.()
      }
      expect((await stuck).message).to.include('has waited more than 20 s for a transaction')
      expect(explainUnavailable(await stuck)).to.include({ status: 503, code: 'database_busy' })
      expect(await outcomes([bystander])).to.eql(['fulfilled'])
      expect(warnings).to.have.length(3)
      expect(timers).to.have.length(0)
    })

    it('keep foreign keys off for a migration only, even after it failed', async () => {
      const runner = dataSource.createQueryRunner()
      await runner.beforeMigration()
      const other = dataSource.query('pragma foreign_keys')
      await runner.startTransaction()
      await runner.query('select 1')
      await runner.rollbackTransaction()
      await runner.release()
      expect(await other).to.eql([{ foreign_keys: 1 }])
    })

    it('reject waiting callers when the connection is closed', async () => {
      const runner = dataSource.createQueryRunner()
      await runner.startTransaction()
      const waiting = refusal(dataSource.query('select 1'))
      await dataSource.destroy()
      expect(await waiting).to.include('not open')
      await dataSource.initialize()
      await expectUsable()
    })

    it('are gated once, even if the gate is installed several times', async () => {
      const { createQueryRunner } = dataSource.driver
      gateTransactions(dataSource)
      expect(dataSource.driver.createQueryRunner).to.equal(createQueryRunner)
    })

    it('leave the connection usable after a request for streaming, which the driver lacks', async () => {
      const stream = dataSource.getRepository(Notes).createQueryBuilder('note').stream()
      expect(await refusal(stream)).to.include('Stream is not supported')
      await expectUsable()
    })

    async function expectUsable(): Promise<void> {
      await dataSource.transaction((manager) => insert(manager, 'usable'))
      await dataSource.manager.delete(Notes, { text: 'usable' })
    }
  })
