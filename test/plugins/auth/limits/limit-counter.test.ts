import { expect } from 'chai'
import { createLimitCounter } from '../../../../plugins/auth/limits/limit-counter.ts'
import { TestClock } from '../support/clock.ts'

const LIMIT = { rule: 'login', scope: 'ip', limit: 2, window: 60 } as const

describe('a limit counter', () => {
  it('counts in memory when Redis is connected and never answers', async () => {
    const faults: unknown[] = []
    const never = (): Promise<never> => new Promise(() => {})
    const redis = { status: 'ready', defineCommand: () => undefined, rlflxIncr: never, del: never }
    const onRedis = (error: unknown): unknown => faults.push(error)
    const counter = createLimitCounter({ limit: LIMIT, clock: new TestClock(), redis, onRedis, patience: 5 })
    const counts = [await counter.count('a'), await counter.count('a'), await counter.count('a')]
    expect(counts.map(({ allowed, remaining }) => [allowed, remaining])).to.deep.equal([
      [true, 1],
      [true, 0],
      [false, 0],
    ])
    await counter.clear('a')
    expect(await counter.count('a')).to.deep.include({ allowed: true })
    expect(faults).to.have.lengthOf(1)
  })

  it('waits one second for a silent Redis', async () => {
    const never = (): Promise<never> => new Promise(() => {})
    const redis = { status: 'ready', defineCommand: () => undefined, rlflxIncr: never, del: never }
    const { setTimeout: real } = globalThis
    const waits: unknown[] = []
    // The time-outs end immediately, and are noted.
    globalThis.setTimeout = ((act: () => void, milliseconds: number) => {
      waits.push(milliseconds)
      return real(act, 0)
    }) as typeof setTimeout
    try {
      const counter = createLimitCounter({ limit: LIMIT, clock: new TestClock(), redis })
      expect(await counter.count('a')).to.deep.include({ allowed: true, remaining: 1 })
    } finally {
      globalThis.setTimeout = real
    }
    expect(waits).to.deep.equal([1000])
  })

  it('gives no command to a client without a connection, which would keep it', async () => {
    let asked = 0
    const keeps = (): Promise<never> => {
      asked += 1
      return new Promise(() => {})
    }
    const redis = { status: 'reconnecting', defineCommand: () => undefined, rlflxIncr: keeps, del: keeps }
    const counter = createLimitCounter({ limit: LIMIT, clock: new TestClock(), redis })
    await counter.count('a')
    await counter.giveBack('a')
    await counter.clear('a')
    expect(asked).to.equal(0)
  })

  it('counts, resets and subtracts in Redis while it works, under a separate name for each limit', async () => {
    const commands: unknown[][] = []
    const note = (command: string) => async (first: unknown, points?: string) => {
      const [key] = [first].flat()
      commands.push([command, key, ...(points === undefined ? [] : [points])])
      return [1, 60_000]
    }
    const redis = {
      status: 'ready',
      defineCommand: () => undefined,
      rlflxIncr: async ([key, points]: [string, string]) => note('count')(key, points),
      del: note('delete'),
    }
    const counter = createLimitCounter({ limit: LIMIT, clock: new TestClock(), redis })
    await counter.count('a')
    await counter.giveBack('a')
    await counter.clear('a')
    expect(commands).to.deep.equal([
      ['count', 'mortar:auth:login:ip:a', '1'],
      ['count', 'mortar:auth:login:ip:a', '-1'],
      ['delete', 'mortar:auth:login:ip:a'],
    ])
  })

  it('takes an attempt back in memory while Redis is down', async () => {
    const redis = { status: 'end', defineCommand: () => undefined }
    const counter = createLimitCounter({ limit: LIMIT, clock: new TestClock(), redis })
    await counter.count('a')
    await counter.count('a')
    await counter.giveBack('a')
    expect((await counter.count('a')).allowed).to.equal(true)
  })

  it('takes an attempt back', async () => {
    const counter = createLimitCounter({ limit: LIMIT, clock: new TestClock() })
    await counter.count('a')
    await counter.count('a')
    await counter.giveBack('a')
    expect((await counter.count('a')).allowed).to.equal(true)
    expect((await counter.count('a')).allowed).to.equal(false)
  })
})
