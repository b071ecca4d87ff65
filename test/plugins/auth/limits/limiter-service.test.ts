import { expect } from 'chai'
import { defineBrick, value, type Limit, type Limiter } from 'mortar'
import { createMemoryLimiter } from '../../../../src/limits/memory-limiter.ts'
import { onEachStore } from '../support/on-each-store.ts'
import { ADA, PASSWORD, resetTokenFor, signedUp } from '../support/world.ts'

/** A limiter that counts in memory and notes each call. */
function recorder({ clears = true } = {}) {
  const calls: string[] = []
  const memory = createMemoryLimiter({ clock: { now: () => 0 } })
  const note =
    <T>(name: string, act: (key: string, limit: Limit) => T) =>
    (key: string, limit: Limit): T => {
      calls.push(name)
      expect(key).to.match(/^auth:[\w-]{43}$/)
      return act(key, limit)
    }
  const away = () => Promise.reject(new Error('The limiter is away.'))
  const limiter: Limiter = {
    ...memory,
    consume: note('consume', memory.consume),
    clear: note('clear', clears ? memory.clear : away),
    giveBack: note('giveBack', clears ? memory.giveBack : away),
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
      expect(calls.slice(3)).to.deep.equal(['consume', 'consume', 'consume', 'clear', 'clear', 'clear'])
    })
  })

  it('fails no login whose count cannot be reset, and changes no refusal whose count cannot be given back', () => {
    const { calls, brick } = recorder({ clears: false })
    return inWorld({ limited: true, bricks: [brick] }, async (world) => {
      const client = await signedUp(world)
      const login = await world.client().post('/auth/login', { email: ADA.email, password: PASSWORD })
      expect([login.status, calls.includes('clear')]).to.deep.equal([200, true])
      const weak = await client.post('/auth/change-password', { current: PASSWORD, next: 'password1234' })
      expect([weak.status, calls.includes('giveBack')]).to.deep.equal([422, true])
    })
  })

  it('fails no new password that is stored already', () => {
    const { calls, brick } = recorder({ clears: false })
    return inWorld({ limited: true, bricks: [brick] }, async (world) => {
      const client = await signedUp(world)
      const change = { current: PASSWORD, next: 'another horse battery' }
      expect((await client.post('/auth/change-password', change)).status).to.equal(200)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      const reset = { token: await resetTokenFor(world), password: PASSWORD }
      expect((await world.client().post('/auth/reset-password', reset)).status).to.equal(200)
      expect(calls.filter((name) => name === 'clear')).to.have.length(4)
    })
  })
})
