import { expect } from 'chai'
import { createFakePrimary, settle } from './fakes.ts'

describe('The start of several workers', () => {
  it('starts the others when the first one is ready', async () => {
    const { primary, forked } = createFakePrimary(3)
    primary.start()
    expect(forked.map(({ number }) => number)).to.deep.equal([1])
    await forked[0]!.becomeReady()
    expect(forked.map(({ number }) => number)).to.deep.equal([1, 2, 3])
  })

  it('ends with the reason of a wrong set-up, without another attempt', async () => {
    const { primary, forked, reasons } = createFakePrimary(4)
    primary.start()
    await forked[0]!.end({ code: 1, failure: { message: 'AUTH_SECRET is not set', foreseen: true } })
    expect(await primary.ended).to.deep.equal({ code: 1, reason: 'AUTH_SECRET is not set' })
    expect([forked.length, reasons]).to.deep.equal([1, []])
  })

  it('tries five times after unexpected errors, and shows the reason once', async () => {
    const { primary, forked, clock, reasons } = createFakePrimary(2)
    primary.start()
    const delays: number[] = []
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await forked.at(-1)!.end({ code: 1, failure: { message: 'TypeError: x', foreseen: false } })
      delays.push(clock.waiting[0]!)
      await clock.advance(clock.waiting[0]!)
    }
    expect(delays).to.deep.equal([1, 2, 4, 8])
    expect(forked.length).to.equal(5)
    await forked.at(-1)!.end({ code: 1, failure: { message: 'TypeError: x', foreseen: false } })
    const { code, reason } = await primary.ended
    expect([code, reasons]).to.deep.equal([1, ['TypeError: x']])
    expect(reason).to.include('exit code 1').and.include('No worker became ready in 5 attempts')
  })

  it('ignores a reload before the first worker is ready', async () => {
    const { primary, forked, clock, lines } = createFakePrimary(2)
    primary.start()
    void primary.reload()
    await forked[0]!.end({ code: 3 })
    void primary.reload()
    expect([forked.length, clock.waiting]).to.deep.equal([1, [1]])
    expect(lines.filter((line) => line.includes('reload is ignored')).length).to.equal(2)
  })
})

describe('A worker that crashes', () => {
  it('starts again after 1, 2, 4 … 30 seconds while it does not become stable', async () => {
    const { forked, clock, serve } = createFakePrimary(2)
    await serve()
    const delays: number[] = []
    for (let crash = 0; crash < 7; crash += 1) {
      await forked.at(-1)!.end({ code: null, signal: 'SIGSEGV' })
      delays.push(clock.waiting[0]!)
      await clock.advance(clock.waiting[0]!)
      expect(forked.at(-1)!.number).to.equal(2)
      if (crash % 2 === 0) await forked.at(-1)!.becomeReady()
    }
    expect(delays).to.deep.equal([1, 2, 4, 8, 16, 30, 30])
  })

  it('waits one second again after it has served for a while', async () => {
    const { forked, clock, serve } = createFakePrimary(2)
    await serve()
    for (let crash = 0; crash < 4; crash += 1) {
      await clock.advance(60)
      await forked.at(-1)!.end({ code: 1 })
      expect(clock.waiting).to.deep.equal([1])
      await clock.advance(1)
      await forked.at(-1)!.becomeReady()
    }
  })

  it('starts again without a delay if no other worker serves, but only after it was stable', async () => {
    const { forked, clock, serve } = createFakePrimary(1)
    await serve()
    await clock.advance(5)
    await forked[0]!.end({ code: 1 })
    expect(clock.waiting).to.deep.equal([0])
    await clock.advance(0)
    await forked[1]!.becomeReady()
    await forked[1]!.end({ code: 1 })
    expect(clock.waiting).to.deep.equal([2])
  })

  it('does not end the application, even after a fault of the configuration', async () => {
    const { primary, forked, clock, lines, serve } = createFakePrimary(2)
    await serve()
    await forked[1]!.end({ code: 1, failure: { message: 'database away', foreseen: true } })
    await clock.advance(1)
    expect(forked.length).to.equal(3)
    expect(await Promise.race([primary.ended, settle()])).to.equal(undefined)
    expect(lines.at(-1)).to.match(/Worker 2 ended \(exit code 1\)\. It starts again in 1 s\./)
  })
})

describe('The end of several workers', () => {
  it('closes all workers and exits with 0', async () => {
    const { primary, forked, clock, serve } = createFakePrimary(2)
    await serve()
    primary.stop('stop')
    primary.stop('stop')
    expect(forked.map(({ calls }) => calls)).to.deep.equal([['stop'], ['stop']])
    for (const worker of forked) await worker.end()
    expect(await primary.ended).to.deep.equal({ code: 0 })
    expect([forked.length, clock.waiting]).to.deep.equal([2, []])
  })

  it('kills a worker that exceeds its limit, and exits with 1', async () => {
    const { primary, forked, clock, serve } = createFakePrimary(2)
    await serve()
    primary.stop('close')
    await forked[0]!.end()
    await clock.advance(24)
    expect(forked[1]!.calls).to.deep.equal(['close'])
    await clock.advance(1)
    expect(forked[1]!.calls).to.deep.equal(['close', 'kill'])
    expect(await primary.ended).to.deep.equal({ code: 1 })
  })

  it('cancels a restart that waits', async () => {
    const { primary, forked, clock, serve } = createFakePrimary(2)
    await serve()
    await forked[1]!.end({ code: 1 })
    primary.stop('stop')
    await forked[0]!.end()
    await primary.ended
    await clock.advance(100)
    expect(forked.length).to.equal(2)
  })

  it('ends a worker that is only starting', async () => {
    const { primary, forked } = createFakePrimary(2)
    primary.start()
    primary.stop('stop')
    await forked[0]!.end({ code: null, signal: 'SIGTERM' })
    expect(await primary.ended).to.deep.equal({ code: 0 })
    expect(forked.length).to.equal(1)
  })
})
