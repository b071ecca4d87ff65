import { expect } from 'chai'
import { defineBrick, value, type Limit, type Limiter } from 'mortar'
import { createMemoryLimiter } from '../../../../src/limits/memory-limiter.ts'
import { onEachStore } from '../support/on-each-store.ts'
import { ADA, PASSWORD, signedUp } from '../support/world.ts'

/** A limiter that counts in memory and notes each call. */
function recorder() {
  const calls: string[] = []
  const memory = createMemoryLimiter({ clock: { now: () => 0 } })
  const note =
    <T>(name: string, act: (key: string, limit: Limit) => T) =>
    (key: string, limit: Limit): T => {
      calls.push(name)
      expect(key).to.match(/^auth:[\w-]{43}$/)
      return act(key, limit)
    }
  const limiter: Limiter = {
    ...memory,
    consume: note('consume', memory.consume),
    clear: note('clear', memory.clear),
    giveBack: note('giveBack', memory.giveBack),
  }
  return { calls, brick: defineBrick({ name: 'limits', services: { limiter: value(limiter) } }) }
}

onEachStore('the service limiter', (inWorld) => {
  it('counts the limits of the sign-in, under keys without an address', () => {
    const { calls, brick } = recorder()
    return inWorld({ limited: true, bricks: [brick] }, async (world) => {
      await signedUp(world)
      calls.length = 0
      await world.client().post('/auth/login', { email: ADA.email, password: 'wrong horse' })
      expect(calls).to.deep.equal(['consume', 'consume', 'consume'])
      await world.client().post('/auth/login', { email: ADA.email, password: PASSWORD })
      expect(calls.slice(3)).to.deep.equal(['consume', 'consume', 'consume', 'clear', 'clear'])
    })
  })
})
