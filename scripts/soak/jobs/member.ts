// A process of the ledger: it loads the application, tells its parent, and begins on a message, so that a
// killed process has a successor without the time of an import. Argument: options of the connection as JSON.
import { setTimeout as wait } from 'node:timers/promises'
import { createApp } from 'mortar'
import { database, type ConnectionOptions } from '@mortar/database'
import { jobs } from '@mortar/jobs'
import order from './jobs/order.ts'
import { Orders, TABLES } from './tables.ts'

/** The orders that a producer makes. */
export interface Share {
  readonly first: number
  readonly count: number
}

const [, , connection] = process.argv
const app = createApp({ environment: 'development', logger: false, signals: false })
  .use(database({ ...(JSON.parse(connection!) as ConnectionOptions), entities: TABLES }))
  .use(jobs({ directory: new URL('./jobs', import.meta.url) }))

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
