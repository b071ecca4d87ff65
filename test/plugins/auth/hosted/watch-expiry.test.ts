import { mock } from 'node:test'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { expect } from 'chai'
import { watchExpiry } from '../../../../plugins/auth-hosted/watch-expiry.ts'

const NOW = Date.UTC(2030, 0, 1)
const tokenFor = (seconds: number) =>
  `e30.${Buffer.from(JSON.stringify({ exp: NOW / 1000 + seconds })).toString('base64url')}.x`

/** Watches a token that expires in so many seconds, with a tolerance in milliseconds. */
function watched(seconds: number, tolerance = 0) {
  const ends: number[] = []
  const watch = watchExpiry({ now: () => NOW }, tolerance)
  const stop = watch({ token: tokenFor(seconds) } as never, {} as never, () => ends.push(1))
  return { ends, stop }
}

describe('A long response with a token of a hosted provider', () => {
  it('ends when the token expires, once, and not after it is over', () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const [first, second, late] = [watched(60), watched(60), watched(-3)]
      mock.timers.tick(1)
      expect([first.ends.length, second.ends.length, late.ends.length]).to.deep.equal([0, 0, 1])
      second.stop()
      mock.timers.tick(59_998)
      expect(first.ends).to.have.lengthOf(0)
      mock.timers.tick(1)
      mock.timers.tick(60_000)
      expect([first.ends.length, second.ends.length]).to.deep.equal([1, 0])
    } finally {
      mock.timers.reset()
    }
  })

  it('goes on for as long as a request with the token is accepted after its expiry', () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const { ends } = watched(-3, 5000)
      mock.timers.tick(1999)
      expect(ends).to.have.lengthOf(0)
      mock.timers.tick(1)
      expect(ends).to.have.lengthOf(1)
    } finally {
      mock.timers.reset()
    }
  })

  it('goes on with a token that expires later than any timer', async () => {
    const warnings: string[] = []
    const listen = ({ name }: Error): void => void warnings.push(name)
    process.on('warning', listen)
    const { ends, stop } = watched(60 * 86_400)
    await turnOfTheLoop()
    stop()
    process.off('warning', listen)
    // Node ends a timer that is too long after a millisecond, and warns.
    expect(warnings.filter((name) => name === 'TimeoutOverflowWarning')).to.deep.equal([])
    expect(ends).to.deep.equal([])
  })
})
