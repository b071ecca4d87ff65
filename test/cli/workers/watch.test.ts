import { expect } from 'chai'
import { createFakePrimary, settle } from './fakes.ts'

const MB = 1024 ** 2

describe('A worker that does not respond', () => {
  it('is killed after its time, and another one starts; the others stay', async () => {
    const { forked, watch, serve, lines, primary } = createFakePrimary(2, 30, { stuckAfter: 3 })
    await serve()
    await watch(5)
    forked[1]!.responds = false
    await watch(3)
    expect(forked[1]!.calls).to.deep.equal([])
    await watch(2)
    expect(forked.map(({ calls }) => calls)).to.deep.equal([[], ['kill'], []])
    expect(lines.filter((line) => line.includes('not responded'))).to.deep.equal([
      'Worker 2 has not responded for 3 s, so it is killed.',
    ])
    expect(forked[2]!.number).to.equal(2)
    expect(primary.restarts).to.deep.equal({ crash: 0, stuck: 1, memory: 0 })
  })

  it('is left alone if it responds in time, under a debugger, before it is ready, or with the limit off', async () => {
    const { forked, watch, serve, alive, primary } = createFakePrimary(3, 30, { stuckAfter: 3 })
    await serve()
    forked[0]!.isInspected = true
    await watch(1)
    forked[0]!.responds = false
    const late = createLate(forked[1]!)
    await watch(2)
    late.answer()
    await watch(2)
    late.answer()
    await watch(2)
    expect(alive().length).to.equal(3)
    expect(primary.restarts).to.deep.equal({ crash: 0, stuck: 0, memory: 0 })

    const starting = createFakePrimary(1, 30, { stuckAfter: 3 })
    starting.primary.start()
    starting.forked[0]!.responds = false
    await starting.watch(20)
    expect(starting.forked[0]!.calls).to.deep.equal([])

    const off = createFakePrimary(1, 30, { stuckAfter: undefined })
    await off.serve()
    off.forked[0]!.responds = false
    await off.watch(100)
    expect(off.forked[0]!.calls).to.deep.equal([])
  })

  it('is not judged while it closes, or while the primary process stops', async () => {
    const { forked, watch, serve, primary, lines } = createFakePrimary(2, 30, { stuckAfter: 2 })
    await serve()
    await watch(1)
    for (const worker of forked) worker.responds = false
    forked[0]!.isConnected = false
    primary.stop('close')
    await watch(5)
    expect(forked.flatMap(({ calls }) => calls)).to.deep.equal(['close', 'close'])
    expect(lines.some((line) => line.includes('responded'))).to.equal(false)
  })

  it('is known to the others within two questions, and so are restarts', async () => {
    const { forked, watch, serve, clock } = createFakePrimary(3, 30, { stuckAfter: 4 })
    await serve()
    await watch(2)
    expect(forked[0]!.lastState).to.deep.equal({
      up: [true, true, true],
      restarts: { crash: 0, stuck: 0, memory: 0 },
    })
    forked[2]!.responds = false
    await watch(2)
    expect(forked[0]!.lastState?.up).to.deep.equal([true, true, false])
    await forked[1]!.end({ code: 1 })
    await watch(1)
    expect(forked[0]!.lastState).to.deep.equal({
      up: [true, false, false],
      restarts: { crash: 1, stuck: 0, memory: 0 },
    })
    await watch(4)
    await clock.advance(1)
    for (const worker of forked.slice(3)) await worker.becomeReady()
    await watch(1)
    expect(forked[0]!.lastState).to.deep.equal({
      up: [true, true, true],
      restarts: { crash: 1, stuck: 1, memory: 0 },
    })
  })
})

describe('A worker that does not become ready', () => {
  it('is killed when it does not respond for 30 s, and another one starts', async () => {
    const { primary, forked, watch, lines } = createFakePrimary(2, 30, { stuckAfter: 3 })
    primary.start()
    forked[0]!.responds = false
    await watch(31)
    expect(forked[0]!.calls).to.deep.equal(['kill'])
    expect(lines).to.include('Worker 1 has not responded for 30 s, so it is killed.')
    await watch(2)
    await forked[1]!.becomeReady()
    forked[2]!.responds = false
    await watch(31)
    expect(forked.slice(0, 3).map(({ calls }) => calls.join())).to.deep.equal(['kill', '', 'kill'])
    expect(primary.restarts).to.deep.equal({ crash: 0, stuck: 1, memory: 0 })
    await watch(2)
    expect([forked.length, forked[3]!.number]).to.deep.equal([4, 2])
  })

  it('is asked again when it is ready, because a question before it listens is lost', async () => {
    const { forked, watch, serve } = createFakePrimary(2, 30, { stuckAfter: 3 })
    await serve()
    await forked[1]!.end({ code: 1 })
    await watch(2)
    forked[2]!.responds = false
    await watch(10)
    forked[2]!.responds = true
    await forked[2]!.becomeReady()
    await watch(10)
    expect(forked.map(({ calls }) => calls.join())).to.deep.equal(['', '', ''])
  })

  it('is killed after its time to start although it responds, and the start fails after five attempts', async () => {
    const { primary, forked, watch, lines } = createFakePrimary(1, 30, { startTimeout: 20 })
    let code: number | undefined
    void primary.ended.then((end) => (code = end.code))
    primary.start()
    await watch(19)
    expect(forked[0]!.calls).to.deep.equal([])
    await watch(1)
    expect(forked[0]!.calls).to.deep.equal(['kill'])
    expect(lines).to.include('Worker 1 was not ready within 20 s, so it is killed.')
    await watch(4 * 21 + 1 + 2 + 4 + 8)
    expect([forked.length, code]).to.deep.equal([5, 1])
  })

  it('has no limit with off, under a debugger, or once it is ready', async () => {
    const limits = { startTimeout: undefined, stuckAfter: undefined }
    const off = createFakePrimary(1, 30, limits)
    off.primary.start()
    off.forked[0]!.responds = false
    await off.watch(700)
    const inspected = createFakePrimary(1, 30, { startTimeout: 5 })
    inspected.primary.start()
    inspected.forked[0]!.isInspected = true
    await inspected.watch(20)
    const ready = createFakePrimary(1, 30, { startTimeout: 5 })
    await ready.serve()
    await ready.watch(20)
    expect([off, inspected, ready].map(({ forked }) => forked.length)).to.deep.equal([1, 1, 1])
  })
})

describe('A worker that needs too much memory', () => {
  const limits = { maxMemory: 100 * MB }

  it('is replaced like in a reload, one at a time and at most once a minute', async () => {
    const { forked, watch, serve, lines, primary } = createFakePrimary(2, 30, limits)
    await serve()
    for (const worker of forked) worker.memory = 101 * MB
    await watch(60)
    expect(forked.length).to.equal(2)
    await watch(2)
    expect([forked.length, forked[2]!.number]).to.deep.equal([3, 1])
    expect(lines.at(-1)).to.equal('Worker 1 needs 101 MB, more than 100 MB, so it is replaced.')
    forked[2]!.memory = 200 * MB
    await forked[2]!.becomeReady()
    expect(forked[0]!.calls).to.deep.equal(['replace'])
    await watch(2)
    expect(forked.length).to.equal(3)
    await forked[0]!.end()
    await watch(1)
    expect(forked.map(({ number }) => number)).to.deep.equal([1, 2, 1, 2])
    await forked[3]!.becomeReady()
    await forked[1]!.end()
    await watch(50)
    expect(forked.length).to.equal(4)
    await watch(12)
    expect([forked.length, primary.restarts.memory]).to.deep.equal([5, 3])
  })

  it('continues if the new one fails, and is tried again a minute later', async () => {
    const { forked, watch, serve, lines, alive } = createFakePrimary(1, 30, limits)
    await serve()
    forked[0]!.memory = 101 * MB
    await watch(62)
    await forked[1]!.end({ code: 1, failure: { message: 'wrong', foreseen: true } })
    expect(lines.at(-1)).to.equal(
      'The new worker 1 ended before it was ready (exit code 1). The old one continues.',
    )
    expect(alive()).to.deep.equal([forked[0]])
    await watch(50)
    expect(forked.length).to.equal(2)
    await watch(12)
    expect(forked.length).to.equal(3)
  })

  it('waits for a reload, and a reload waits for it', async () => {
    const { forked, watch, serve, primary } = createFakePrimary(1, 30, limits)
    await serve()
    forked[0]!.memory = 101 * MB
    await watch(60)
    void primary.reload()
    await settle()
    await watch(5)
    expect(forked.length).to.equal(2)
    forked[1]!.memory = 101 * MB
    await forked[1]!.becomeReady()
    await forked[0]!.end()
    await watch(62)
    expect(forked.length).to.equal(3)
    void primary.reload()
    await settle()
    expect(forked.length).to.equal(3)
    await forked[2]!.becomeReady()
    await forked[1]!.end()
    await settle()
    expect(forked.length).to.equal(4)
  })
})

/** Makes a worker respond when the test wants it. */
function createLate(worker: ReturnType<typeof createFakePrimary>['forked'][number]) {
  let waiting: (() => void) | undefined
  worker.ping = (_workers, answered) => {
    waiting = () => answered({ mortar: 'pulse', memory: 0, isInspected: false })
  }
  return { answer: () => waiting!() }
}
