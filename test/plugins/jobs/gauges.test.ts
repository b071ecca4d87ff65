import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import type { Gauge } from 'mortar'
import { addGauges } from '../../../plugins/jobs/gauges.ts'

describe('the gauges of jobs', () => {
  afterEach(() => mock.reset())

  it('count at most each ten seconds, and show nothing while the store is away', async () => {
    let [now, isAway] = [0, false]
    mock.method(performance, 'now', () => now)
    const counts = mock.fn(async () => {
      if (isAway) throw new Error('away')
      return { waiting: 3, running: 0, failed: 0, oldest: 0 }
    })
    const all = new Map<string, Gauge>()
    addGauges({ all, add: (name, gauge) => void all.set(name, gauge) }, { counts })
    const read = async (): Promise<unknown> => {
      all.get('jobs_failed')!.read()
      await turn()
      return all.get('jobs_waiting')!.read()
    }
    expect(await read()).to.equal(3)
    now += 10_000
    expect(await read()).to.equal(3)
    expect(counts.mock.callCount()).to.equal(1)
    isAway = true
    now += 1
    expect(await read()).to.equal(undefined)
    isAway = false
    now += 10_001
    expect(await read()).to.equal(3)
    expect(counts.mock.callCount()).to.equal(3)
  })
})
