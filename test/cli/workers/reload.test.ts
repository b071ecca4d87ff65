import { expect } from 'chai'
import { createFakePrimary, settle } from './fakes.ts'

describe('A reload', () => {
  it('replaces one worker after the other, and closes the old one when the new one is ready', async () => {
    const { primary, forked, alive, serve, lines } = createFakePrimary(2)
    await serve()
    void primary.reload()
    await settle()
    expect(alive().map(({ number }) => number)).to.deep.equal([1, 2, 1])
    expect(forked[0]!.calls).to.deep.equal([])
    await forked[2]!.becomeReady()
    expect([forked[0]!.calls, forked.length]).to.deep.equal([['replace'], 3])
    await forked[0]!.end()
    expect(forked.length).to.equal(4)
    await forked[3]!.becomeReady()
    await forked[1]!.end()
    expect(alive()).to.deep.equal([forked[2], forked[3]])
    expect(lines.at(-1)).to.equal('Reload completed: 2 workers replaced.')
  })

  it('stops when a new worker ends before it is ready, and the old ones continue', async () => {
    const { primary, forked, alive, serve, lines, clock } = createFakePrimary(2)
    await serve()
    void primary.reload()
    await settle()
    await forked[2]!.end({ code: 1, failure: { message: 'wrong', foreseen: true } })
    expect(alive()).to.deep.equal([forked[0], forked[1]])
    expect(alive().flatMap(({ calls }) => calls)).to.deep.equal([])
    expect(lines.at(-1)).to.equal(
      'Reload stopped: The new worker 1 ended before it was ready (exit code 1). ' +
        '0 of 2 workers are new, and the others continue with the old build.',
    )
    expect(clock.waiting).to.deep.equal([])
  })

  it('kills a new worker that is not ready in time', async () => {
    const { primary, forked, alive, serve, lines, clock } = createFakePrimary(2, 7)
    await serve()
    void primary.reload()
    await settle()
    await clock.advance(6)
    expect(forked[2]!.calls).to.deep.equal([])
    await clock.advance(1)
    await settle()
    expect(forked[2]!.calls).to.deep.equal(['kill'])
    expect(alive()).to.deep.equal([forked[0], forked[1]])
    expect(lines.at(-1)).to.include('was not ready within 7 s')
  })

  it('runs once more after it is requested during a reload', async () => {
    const { primary, forked, serve } = createFakePrimary(1)
    await serve()
    const outcomes = [primary.reload(), primary.reload(), primary.reload()]
    await settle()
    await forked[1]!.becomeReady()
    await forked[0]!.end()
    expect(forked.length).to.equal(3)
    await forked[2]!.becomeReady()
    await forked[1]!.end()
    await settle()
    expect(forked.length).to.equal(3)
    const completed = { outcome: 'completed', workers: 1 }
    const ended = await Promise.race([Promise.all(outcomes), settle()])
    expect(ended).to.deep.equal([completed, completed, completed])
  })

  it('is refused for those who wait for another one when the primary process stops', async () => {
    const { primary, forked, serve } = createFakePrimary(1)
    await serve()
    const outcomes = [primary.reload(), primary.reload()]
    await settle()
    primary.stop('stop')
    await forked[1]!.becomeReady()
    for (const worker of forked) await worker.end()
    const refused = { outcome: 'refused', message: 'The primary process is stopping.' }
    expect(await Promise.race([Promise.all(outcomes), settle()])).to.deep.equal([refused, refused])
  })

  it('fills the place of a crashed worker immediately', async () => {
    const { primary, forked, alive, serve, clock } = createFakePrimary(2)
    await serve()
    await forked[0]!.end({ code: 1 })
    expect(clock.waiting).to.deep.equal([1])
    void primary.reload()
    await settle()
    expect(forked[2]!.number).to.equal(1)
    await forked[2]!.becomeReady()
    await forked[3]!.becomeReady()
    await forked[1]!.end()
    await clock.advance(100)
    expect(alive()).to.deep.equal([forked[2], forked[3]])
  })

  it('starts a worker later if the old one crashes while the new one fails', async () => {
    const { primary, forked, serve, clock } = createFakePrimary(2)
    await serve()
    void primary.reload()
    await settle()
    await forked[0]!.end({ code: null, signal: 'SIGKILL' })
    expect(forked.length).to.equal(3)
    await forked[2]!.end({ code: 1 })
    expect(clock.waiting).to.deep.equal([1])
    await clock.advance(1)
    expect([forked.length, forked[3]!.number]).to.deep.equal([4, 1])
  })

  it('makes the next crash wait only as long as the first', async () => {
    const { primary, forked, serve, clock } = createFakePrimary(2)
    await serve()
    for (const delay of [1, 2]) {
      await forked.at(-1)!.end({ code: 1 })
      expect(clock.waiting).to.deep.equal([delay])
      await clock.advance(delay)
      await forked.at(-1)!.becomeReady()
    }
    void primary.reload()
    await settle()
    for (const old of [forked[0]!, forked[3]!]) {
      await forked.at(-1)!.becomeReady()
      await old.end()
    }
    await forked.at(-1)!.end({ code: 1 })
    expect(clock.waiting).to.deep.equal([1])
  })

  it('gives way to a stop: old and new workers end', async () => {
    const { primary, forked, serve, clock } = createFakePrimary(2)
    await serve()
    void primary.reload()
    await settle()
    primary.stop('stop')
    expect(forked.map(({ calls }) => calls)).to.deep.equal([['stop'], ['stop'], ['stop']])
    await forked[2]!.becomeReady()
    for (const worker of forked) await worker.end()
    expect(await primary.ended).to.deep.equal({ code: 0 })
    expect([forked.length, clock.waiting]).to.deep.equal([3, []])
  })

  it('is ignored without a message during a stop, even before a worker is ready', async () => {
    const { primary, forked, lines } = createFakePrimary(2)
    primary.start()
    primary.stop('stop')
    void primary.reload()
    await forked[0]!.end()
    await primary.ended
    expect([forked.length, lines]).to.deep.equal([1, []])
  })
})
