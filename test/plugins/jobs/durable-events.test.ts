import { expect } from 'chai'
import { durableEvent, InvalidJobData } from '@mortar/jobs'
import { testJobs } from '@mortar/jobs/testing'
import * as schema from '@mortar/jobs/schema'
import { KINDS } from '../database/databases.ts'
import { jobsApp, winterClock, type JobsApp } from './applications.ts'
import { failing, NO_KEY, noteShared, runs } from './subscribers/_note-shared.ts'
import indexNote from './subscribers/index-note.ts'
import tellOwner from './subscribers/tell-owner.ts'

const directory = new URL('./subscribers', import.meta.url)
const BOTH = ['index-note n1', 'tell-owner n1']

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`durable events: ${kind}`, () => {
    const place = prepare()
    const clock = winterClock()
    /** Two processes, as with `mortar start --workers 2`. */
    let one: JobsApp
    let other: JobsApp

    beforeEach(async () => {
      await (await place().open(schema)).synchronize()
      runs.length = 0
      failing.clear()
      one = jobsApp(place().options(schema), { directory }, { clock })
      other = jobsApp(place().options(schema), { directory }, { clock })
      await Promise.all([one.ready(), other.ready()])
    })
    afterEach(() => Promise.all([one.close(), other.close()]))

    it('run each subscriber once, in any process', async () => {
      await one.services.jobs.publish(noteShared, { note: 'n1' })
      expect(await testJobs(other).added(tellOwner)).to.deep.equal([{ note: 'n1' }])
      const counts = await Promise.all([testJobs(one).run(), testJobs(other).run()])
      expect(counts[0] + counts[1]).to.equal(2)
      expect(runs.toSorted()).to.deep.equal(BOTH)
    })

    it('repeat a subscriber that fails, and not the others', async () => {
      failing.add('tell-owner')
      await one.services.jobs.publish(noteShared, { note: 'n1' })
      await testJobs(one).run({ failing: [tellOwner] })
      expect(runs).to.deep.equal(['index-note n1'])
      failing.clear()
      expect(await testJobs(other).run()).to.equal(0)
      clock.advance('1m')
      expect(await testJobs(other).run()).to.equal(1)
      expect(runs).to.deep.equal(BOTH)
    })

    it('are published with the commit of a transaction, and not after its rollback', async () => {
      const { db, jobs } = one.services
      for (const options of [undefined, {}])
        await db
          .transaction(async (tx) => {
            await jobs.publish(noteShared, { note: 'n0' }, options && { tx })
            throw new Error('rollback')
          })
          .catch(() => undefined)
      expect(await jobs.list()).to.deep.equal([])
      await db.transaction((tx) => jobs.publish(noteShared, { note: 'n1' }, { tx }))
      expect(await jobs.list()).to.have.lengthOf(2)
    })

    it('add all subscribers or none', async () => {
      const error = await one.services.jobs
        .publish(noteShared, { note: NO_KEY })
        .catch((caught: unknown) => caught)
      expect(error).to.be.instanceOf(RangeError)
      expect(await testJobs(one).added(indexNote)).to.deep.equal([])
    })

    it('refuse wrong data, also without subscribers, and need none', async () => {
      const { jobs } = one.services
      const unheard = durableEvent('unheard', noteShared.data)
      for (const event of [noteShared, unheard]) {
        // @ts-expect-error: `note` is missing.
        const error = await jobs.publish(event, {}).catch((caught: unknown) => caught)
        expect(error).to.be.instanceOf(InvalidJobData)
      }
      await jobs.publish(unheard, { note: 'n1' })
      await jobs.publish(durableEvent('nothing'))
      expect(await jobs.list()).to.deep.equal([])
    })
  })
