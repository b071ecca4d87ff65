import { availableParallelism } from 'node:os'
import { expect } from 'chai'
import { createHashPool } from '../../plugins/auth/passwords/hash-pool.ts'
import { isWorker, processShare } from '../../src/support/env/process-share.ts'

describe('processShare', () => {
  it('returns one process when nothing is set', () => {
    expect(processShare({})).to.deep.equal({ count: 1, number: 1 })
    expect(isWorker({})).to.equal(false)
  })

  it('returns what the primary process has passed to a worker', () => {
    const variables = { FRAMEWORK_PROCESSES: '4', FRAMEWORK_WORKER: '3' }
    expect(processShare(variables)).to.deep.equal({ count: 4, number: 3 })
    expect(isWorker(variables)).to.equal(true)
  })

  it('counts processes of another supervisor by FRAMEWORK_PROCESSES alone', () => {
    expect(processShare({ FRAMEWORK_PROCESSES: '2' })).to.deep.equal({ count: 2, number: 1 })
    expect(isWorker({ FRAMEWORK_PROCESSES: '2' })).to.equal(false)
  })

  for (const wrong of ['', '0', '-1', '1e3', '2.5', 'abc', ' 2', '257', '99999'])
    it(`counts '${wrong}' as one process`, () => {
      expect(processShare({ FRAMEWORK_PROCESSES: wrong })).to.deep.equal({ count: 1, number: 1 })
    })
})

describe('The share of a process in password hashes', () => {
  /** Tasks that never end. */
  const started = (processes: number): { running: number; waiting: number; refused: number } => {
    const pool = createHashPool({ threads: 1024, processes })
    let refused = 0
    for (let each = 0; each < 100 * availableParallelism(); each += 1)
      pool.run(() => new Promise<never>(() => {})).catch(() => (refused += 1))
    return { running: pool.running, waiting: pool.waiting, refused }
  }

  it('is all cores for a single process, and one hash for each of as many processes as cores', () => {
    const cores = availableParallelism()
    expect(started(1)).to.deep.include({ running: cores, waiting: 64 * cores })
    expect(started(cores)).to.deep.include({ running: 1, waiting: 64 })
  })

  it('is one hash and a shorter queue when there are more processes than cores', () => {
    expect(started(4 * availableParallelism())).to.deep.include({ running: 1, waiting: 16 })
  })
})
