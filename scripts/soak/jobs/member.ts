// A process of the ledger: it loads the application, tells its parent, and begins on a message, so that a
// killed process has a successor without the time of an import. Argument: connection and engine of the plan as JSON.
import { setTimeout as wait } from 'node:timers/promises'
import { createApp } from 'mortar'
import { database } from '@mortar/database'
import { jobs } from '@mortar/jobs'
import { chooseEngine } from './choose-engine.ts'
import type { LedgerPlan, Share } from './plan.ts'
import order from './jobs/order.ts'
import { Orders, TABLES } from './tables.ts'

const plan = JSON.parse(process.argv[2]!) as Pick<LedgerPlan, 'connection' | 'engine' | 'lease'>
const engine = chooseEngine(plan.engine, plan.lease)
const app = createApp({ environment: 'development', logger: false, signals: false })
  .use(database({ ...plan.connection, entities: TABLES }))
  .use(jobs({ directory: new URL('./jobs', import.meta.url), ...(engine && { engine }) }))

process.on('message', (message: 'begin' | Share) => {
  const work = message === 'begin' ? app.ready().then(() => 'begun') : produce(message).then(() => 'made')
  work.then(
    (told) => process.send!(told),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exit(1)
    },
  )
})
process.once('disconnect', () => process.exit())
process.send!('warm')

/** Makes orders in transactions, of which every fourth is rolled back after its job was added. */
async function produce({ first, count }: Share): Promise<void> {
  for (let id = first; id < first + count; id++) {
    const isRolledBack = id % 4 === 0
    try {
      await app.services.db.transaction(async (tx) => {
        await tx.insert(Orders, { id })
        await app.services.jobs.add(order, { order: id })
        if (isRolledBack) throw new RolledBack()
      })
    } catch (error) {
      // The table of orders tells if a transaction whose end is unknown has committed.
      if (error instanceof RolledBack) continue
      process.send!('failed')
      await wait(100)
    }
  }
}

class RolledBack extends Error {}
