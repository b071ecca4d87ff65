import { expect } from 'chai'
import { createApp } from 'mortar'
import { createClock } from 'mortar/testing'

describe('The test clock', () => {
  it('does not move by itself', () => {
    const clock = createClock(1000)
    expect(clock.now()).to.equal(1000)
    clock.advance(2)
    expect(clock.now()).to.equal(3000)
    clock.advance('15m')
    expect(clock.now()).to.equal(903_000)
    clock.set(5)
    expect(clock.now()).to.equal(5)
  })

  it('begins at a date, or now', () => {
    expect(createClock(new Date(7)).now()).to.equal(7)
    const before = Date.now()
    expect(createClock().now()).to.be.within(before, Date.now())
  })

  it('rejects a step back and an invalid duration', () => {
    expect(() => createClock().advance(-1)).to.throw(RangeError, /duration/)
    expect(() => createClock().advance('soon')).to.throw(RangeError, /soon/)
  })

  it('is the clock of the application that receives it', async () => {
    const clock = createClock(42)
    const app = createApp({ environment: 'test', clock })
    await app.ready()
    expect(app.services.clock.now()).to.equal(42)
    await app.close()
  })
})
