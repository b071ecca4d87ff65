import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { loggerTo } from '../../../app/recorder.ts'
import { onEachStore } from '../support/on-each-store.ts'
import { prune } from '../features/support/account-scene.ts'
import { ADA, settle, signedUp, type World } from '../support/world.ts'

const HOUR = 3_600_000

onEachStore('A process whose clock is wrong', (inWorld) => {
  /** A world whose clock differs from the database's by these milliseconds, and its warnings. */
  function clockOf(offset: number) {
    const warnings: string[] = []
    const logger = loggerTo((level, given) => {
      const text = given.find((part) => typeof part === 'string') as string
      // One line for a difference, on a document database too.
      if (level === 'warn' && /The clock of this process is .* database\. /.test(text)) warnings.push(text)
    })
    return { app: { logger, clock: { now: () => Date.now() + offset } }, warnings }
  }

  const offsetOf = ({ app }: World): number =>
    app.services.gauges.all.get('mortar_clock_offset_seconds')!.read() as number

  for (const [name, offset] of [
    ['an hour behind', -HOUR],
    ['an hour ahead', HOUR],
  ] as const)
    it(`ends sessions everywhere: ${name}`, () =>
      inWorld({ file: true, app: clockOf(0).app }, (right) => {
        const { app, warnings } = clockOf(offset)
        return inWorld({ file: right.file, app }, async (wrong) => {
          const client = await signedUp(right)
          expect((await client.get('/auth/me')).status).to.equal(200)
          const ended = await client.copy(wrong.app).post('/auth/logout')
          expect(ended.status).to.equal(204)
          while ((await client.get('/auth/me')).status !== 401) await wait(20)
          // The clean-up of a clock that is ahead deletes no record that others still need.
          const other = right.client()
          await other.post('/auth/login', ADA)
          expect((await other.post('/auth/logout')).status).to.equal(204)
          await wrong.client().post('/auth/login', ADA)
          await settle(wrong)
          await prune(wrong)
          // A process that starts later, too.
          await inWorld({ file: right.file, app: clockOf(0).app }, async (late) => {
            for (const each of [client, other])
              expect((await each.copy(late.app).get('/auth/me')).status).to.equal(401)
          })
          expect(warnings.length).to.equal(1)
          expect(warnings[0]).to.match(offset < 0 ? /3(600|599\.\d) s behind/ : /3(600|599\.\d) s ahead of/)
          expect(Math.round(offsetOf(wrong) / 60)).to.equal(offset / 60_000)
          expect(Math.abs(offsetOf(right))).to.be.below(30)
        })
      }))
})
