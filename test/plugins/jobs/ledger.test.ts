import { join } from 'node:path'
import { expect } from 'chai'
import { runLedger } from '../../../scripts/soak/jobs/run-ledger.ts'
import { ROOT } from '../../architecture/tree.ts'
import { bundleScript } from '../../support/bundle-script.ts'
import { KINDS } from '../database/databases.ts'

const MEMBER = join(ROOT, 'scripts/soak/jobs/member.ts')

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`jobs of several processes whose workers are killed: ${kind}`, () => {
    const place = prepare()

    it('run if their transaction commits, never if it is rolled back, and once for each moment', async () => {
      const report = await runLedger({
        connection: place().options(),
        engine: { kind: 'database' },
        orders: 300,
        producers: 1,
        workers: 1,
        spares: 0,
        killEvery: 100,
        limit: 20_000,
        endsLeases: true,
        member: await bundleScript(MEMBER, 'jobs'),
      })
      expect(report).to.include({ committed: 225, lost: 0, ghosts: 0, left: 0, overlaps: 0 })
      expect(report.kills).to.be.greaterThan(0)
      expect(report.ticks).to.equal(report.moments)
    })
  })
