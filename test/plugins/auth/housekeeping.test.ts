import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { onEachStore } from './support/on-each-store.ts'
import { logIn as logInByPasskey, registered, withPasskeys } from './support/passkey-scene.ts'
import { enrolled, logInWith, WITH_TOTP } from './support/second-factor.ts'
import { clearAfterNewPassword } from '../../../plugins/auth/flows/sessions.ts'
import { ADA, resetTokenFor, settle, signedUp, type World } from './support/world.ts'

const MONTH = 31 * 86_400
const HOUR = 3600

const login = async (world: World) => {
  const answer = await world.client().post('/auth/login', ADA)
  await settle(world)
  return answer.status
}
const rows = async (world: World) => [
  (await world.storage.sessions()).length,
  (await world.storage.resetTokens()).length,
]

onEachStore('Housekeeping', (inWorld) => {
  it('deletes expired sessions and reset tokens after a login, and leaves the others', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      await resetTokenFor(world)
      await settle(world)
      expect(await rows(world)).to.deep.equal([1, 1])
      world.clock.advance(MONTH)
      expect(await login(world)).to.equal(200)
      expect(await rows(world)).to.deep.equal([1, 0])
    }))

  it('comes after a signup too', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      await settle(world)
      world.clock.advance(MONTH)
      await world.client().post('/auth/signup', { ...ADA, email: 'bob@example.com' })
      await settle(world)
      expect(await world.storage.sessions()).to.have.length(1)
    }))

  it('comes after a login with a second factor, whose first step begins no session', () =>
    inWorld(WITH_TOTP, async (world) => {
      const { next } = await enrolled(world)
      await settle(world)
      world.clock.advance(MONTH)
      expect((await logInWith(world.client(), { code: next() })).status).to.equal(200)
      await settle(world)
      expect(await world.storage.sessions()).to.have.length(1)
    }))

  it('comes after a login with a passkey', () =>
    inWorld(withPasskeys(), async (world) => {
      const { device } = await registered(world)
      await settle(world)
      world.clock.advance(MONTH)
      expect((await logInByPasskey(world.client(), device)).status).to.equal(200)
      await settle(world)
      expect(await world.storage.sessions()).to.have.length(1)
    }))

  it('comes at most once an hour', () =>
    inWorld({ auth: { refreshTokenLifetime: 10 } }, async (world) => {
      await signedUp(world)
      await settle(world)
      world.clock.advance(HOUR - 1)
      await login(world)
      expect(await world.storage.sessions()).to.have.length(2)
      world.clock.advance(1)
      await login(world)
      // The session of the login before has one more second.
      expect(await world.storage.sessions()).to.have.length(2)
      world.clock.advance(HOUR)
      await login(world)
      expect(await world.storage.sessions()).to.have.length(1)
    }))

  it('comes again when a clock that was far ahead is right', () =>
    inWorld({ auth: { refreshTokenLifetime: 10 } }, async (world) => {
      world.clock.advance(12 * MONTH)
      await signedUp(world)
      await settle(world)
      world.clock.advance(-12 * MONTH)
      await login(world)
      world.clock.advance(HOUR)
      await login(world)
      // The session of the signup has not expired by this clock.
      expect(await world.storage.sessions()).to.have.length(2)
    }))

  // Each clean-up tries twice.
  for (const failures of [2, 4])
    it(`deletes ended sessions later if ${failures} attempts to delete them failed`, () =>
      inWorld({}, async (world) => {
        const client = await signedUp(world)
        await login(world)
        world.storage.interruptions.reject('delete sessions', 'disk full', failures)
        const next = 'another horse battery'
        const change = await client.post('/auth/change-password', { current: ADA.password, next })
        expect(change.status).to.equal(200)
        const counts = []
        for (let hour = 0; hour < 3; hour++) {
          world.clock.advance(HOUR)
          await world.client().post('/auth/login', { ...ADA, password: next })
          await settle(world)
          counts.push((await world.storage.sessions()).length)
        }
        // The new session and one of each login are alive. The two of the old password go with the clean-up.
        expect(counts).to.deep.equal(failures === 2 ? [2, 3, 4] : [4, 3, 4])
      }))

  it('repeats a clean-up that failed until it has succeeded, and not after that', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      await settle(world)
      const { interruptions } = world.storage
      interruptions.reject('delete reset tokens', 'disk full', 2)
      const next = 'another horse battery'
      await client.post('/auth/change-password', { current: ADA.password, next })
      const counts = []
      for (let hour = 0; hour < 2; hour++) {
        let count = 0
        interruptions.gate = (statement) => void (count += Number(statement === 'delete reset tokens'))
        world.clock.advance(HOUR)
        await world.client().post('/auth/login', { ...ADA, password: next })
        await settle(world)
        counts.push(count)
      }
      // The expired ones are deleted each time.
      expect(counts).to.deep.equal([2, 1])
    }))

  it('delays no response, and a failure is only logged', () =>
    inWorld({}, async (world) => {
      const logger = (world.app.services as { logger: { warn: (...args: unknown[]) => void } }).logger
      const warnings: unknown[][] = []
      logger.warn = (...args) => void warnings.push(args)
      world.storage.interruptions.meanwhile('delete sessions', () => Promise.reject(new Error('disk full')))
      await signedUp(world)
      expect(warnings).to.deep.equal([])
      await settle(world)
      const [fields, message] = warnings.at(-1) as [{ reason: string }, string]
      expect(fields.reason).to.include('disk full')
      expect(message).to.include('Expired sessions and reset tokens could not be deleted')
    }))
})

describe('Clean-ups that fail', () => {
  it('keep no response waiting for more than five seconds', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const store = { findEndedSessions: () => new Promise(() => {}), deleteResetTokens: async () => undefined }
    const parts = { store, unfinished: new Set() } as never
    const done = clearAfterNewPassword(parts, 'ada').then(() => 'goes on')
    const states: unknown[] = []
    for (const time of [4999, 1]) {
      mock.timers.tick(time)
      states.push(await Promise.race([done, nextTurn('waits')]))
    }
    mock.timers.reset()
    expect(states).to.deep.equal(['waits', 'goes on'])
  })

  it('are kept for a later one up to a thousand users', async () => {
    const unfinished = new Set<string>()
    const store = {
      findEndedSessions: () => Promise.reject(new Error('away')),
      deleteResetTokens: async () => undefined,
    }
    const parts = { store, unfinished, outages: { log: () => undefined } } as never
    const users = Array.from({ length: 1010 }, (_, index) => `user ${index}`)
    await Promise.all(users.map((userId) => clearAfterNewPassword(parts, userId)))
    expect(unfinished.size).to.equal(1000)
  })
})
