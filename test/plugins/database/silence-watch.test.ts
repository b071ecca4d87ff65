import { mock } from 'node:test'
import { performance } from 'node:perf_hooks'
import { expect } from 'chai'
import { createLink } from '../../../plugins/database/connections/link.ts'
import { SilenceWatch } from '../../../plugins/database/connections/silence-watch.ts'

/** A connection whose server owes a response and never sends it, and the clock of the process. */
function scene({ isPaused = false, isOpening = false } = {}) {
  let now = 0
  mock.timers.enable({ apis: ['setInterval'] })
  mock.method(performance, 'now', () => now)
  const destroy = mock.fn()
  const socket = { bytesRead: 0, bytesWritten: 0, isPaused: () => isPaused, once: () => undefined, destroy }
  const probe = (): Promise<never> => Promise.reject(new Error('away'))
  const watch = new SilenceWatch({ probe, silence: () => 30_000, connectTimeout: 10_000 })
  const link = createLink(() => socket as never)
  watch.add(link)
  if (!isOpening) {
    watch.answered(link)
    watch.asked(link)
  }
  /** Lets time pass between two looks. */
  const pass = (milliseconds: number): void => {
    now += milliseconds
    mock.timers.tick(250)
  }
  return { pass, isEnded: () => destroy.mock.callCount() > 0 }
}

describe('A connection whose server does not respond', () => {
  afterEach(() => {
    mock.timers.reset()
    mock.restoreAll()
  })

  it('is ended after the limit of its silence', () => {
    const { pass, isEnded } = scene()
    for (let look = 0; look < 119; look++) pass(250)
    expect(isEnded()).to.equal(false)
    pass(250)
    expect(isEnded()).to.equal(true)
  })

  it('is not ended while the application has paused the reading of the response', () => {
    const { pass, isEnded } = scene({ isPaused: true })
    for (let look = 0; look < 500; look++) pass(250)
    expect(isEnded()).to.equal(false)
  })

  it('is ended at the limit of its opening, in which a socket may be paused', () => {
    const { pass, isEnded } = scene({ isPaused: true, isOpening: true })
    for (let look = 0; look < 39; look++) pass(250)
    expect(isEnded()).to.equal(false)
    pass(250)
    expect(isEnded()).to.equal(true)
  })

  it('is not ended for the time for which the process itself stood still', () => {
    const { pass, isEnded } = scene()
    for (let look = 0; look < 10; look++) pass(60_000)
    expect(isEnded()).to.equal(false)
  })
})
