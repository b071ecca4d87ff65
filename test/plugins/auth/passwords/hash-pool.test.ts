import { availableParallelism } from 'node:os'
import { expect } from 'chai'
import { ServiceUnavailable } from 'mortar'
import { createHashPool } from '../../../../plugins/auth/passwords/hash-pool.ts'
import { TestClock } from '../support/clock.ts'

/** Tasks that end when told to. */
function controlled() {
  const open: (() => void)[] = []
  let most = 0
  let now = 0
  const task = async (): Promise<void> => {
    now += 1
    most = Math.max(most, now)
    await new Promise<void>((resolve) => {
      open.push(resolve)
    })
    now -= 1
  }
  return { task, open, most: () => most }
}

const turns = async (count = 5): Promise<void> => {
  for (let each = 0; each < count; each += 1) await Promise.resolve()
}

describe('the hash pool', () => {
  it('runs as many tasks concurrently as allowed, and the others in order of arrival', async () => {
    const pool = createHashPool({ concurrency: 2, queue: 100 })
    const { task, open, most } = controlled()
    const ended: number[] = []
    const all = Array.from({ length: 20 }, (_, index) => pool.run(task).then(() => ended.push(index)))
    expect([pool.running, pool.waiting]).to.deep.equal([2, 18])
    while (ended.length < 20) {
      open.shift()?.()
      await turns(10)
    }
    await Promise.all(all)
    expect(most()).to.equal(2)
    expect(ended).to.deep.equal(Array.from({ length: 20 }, (_, index) => index))
    expect([pool.running, pool.waiting]).to.deep.equal([0, 0])
  })

  it('turns away with 503 and Retry-After when the queue is full, without running the task', async () => {
    const pool = createHashPool({ concurrency: 1, queue: 2 })
    const { task, open } = controlled()
    const three = [pool.run(task), pool.run(task), pool.run(task)]
    let ran = false
    const refused = await pool.run(async () => (ran = true)).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(ServiceUnavailable).and.have.property('status', 503)
    expect((refused as ServiceUnavailable).headers['Retry-After']).to.match(/^[1-5]$/)
    expect(() => pool.refuseWhenFull()).to.throw(ServiceUnavailable)
    expect(ran).to.equal(false)
    for (const each of three) {
      open.shift()!()
      await each
      await turns()
    }
    expect(pool.running).to.equal(0)
  })

  it('releases a slot after a task that fails, also after one that throws synchronously', async () => {
    const pool = createHashPool({ concurrency: 1, queue: 10 })
    const fails = [
      pool.run(() => Promise.reject(new Error('first'))),
      pool.run(() => {
        throw new Error('second')
      }),
    ]
    const outcomes = await Promise.allSettled([...fails, pool.run(async () => 'third')])
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected', 'fulfilled'])
    expect([pool.running, pool.waiting]).to.deep.equal([0, 0])
  })

  it('lets nobody in between the one who leaves and the one who waited', async () => {
    const pool = createHashPool({ concurrency: 1, queue: 10 })
    const { task, open, most } = controlled()
    const first = pool.run(task)
    const second = pool.run(task)
    open.shift()!()
    const third = first.then(() => pool.run(task))
    await turns(10)
    open.shift()!()
    await second
    await turns(10)
    open.shift()!()
    await third
    expect(most()).to.equal(1)
  })

  for (const [concurrency, wait] of [
    [1, '4'],
    [2, '2'],
  ] as const)
    it(`asks for a longer wait when hashes take longer, ${concurrency} at a time`, async () => {
      const clock = new TestClock()
      const pool = createHashPool({ concurrency, queue: 4, clock })
      for (let each = 0; each < 50; each += 1) await pool.run(async () => clock.advance(1))
      const { task, open } = controlled()
      const all = Array.from({ length: 4 + concurrency }, () => pool.run(task))
      const refused = (await pool.run(task).catch((error: unknown) => error)) as ServiceUnavailable
      expect(refused.headers['Retry-After']).to.equal(wait)
      for (const each of all) {
        open.shift()!()
        await each
        await turns()
      }
    })

  it('divides the cores and the queue by the processes of the machine', async () => {
    const cores = availableParallelism()
    const roomOf = (processes: number): number[] => {
      const { task } = controlled()
      const pool = createHashPool({ threads: 1000, processes })
      while (!isFull(pool)) void pool.run(task)
      return [pool.running, pool.waiting]
    }
    const isFull = (pool: ReturnType<typeof createHashPool>): boolean => {
      try {
        pool.refuseWhenFull()
        return false
      } catch {
        return true
      }
    }
    const [, queue] = roomOf(cores)
    expect(roomOf(1)).to.deep.equal([cores, queue! * cores])
    expect(roomOf(cores)).to.deep.equal([1, queue])
    expect(roomOf(cores * 2)).to.deep.equal([1, queue! / 2])
  })

  it('leaves two of the threads of libuv to others, and always runs one', async () => {
    const { task, open } = controlled()
    const pool = createHashPool({ threads: 1, queue: 10 })
    const two = [pool.run(task), pool.run(task)]
    expect([pool.running, pool.waiting]).to.deep.equal([1, 1])
    for (const each of two) {
      open.shift()!()
      await each
      await turns()
    }
  })
})
