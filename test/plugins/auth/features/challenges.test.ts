import { expect } from 'chai'
import type { Challenges } from '../../../../plugins/auth/features/challenges/challenges.ts'
import { CHALLENGES } from '../../../../plugins/auth/features/challenges/table.ts'
import type { AuthFeature, FeatureKit } from '../../../../plugins/auth/features/feature.ts'
import { prune } from './support/account-scene.ts'
import { onEachDatabase } from '../support/on-each-store.ts'
import { ADA, PASSWORD, settle, signedUp, type InWorld, type World } from '../support/world.ts'

const HOUR = 3600
const ABOUT = { purpose: 'verify-email', lifetime: HOUR } as const

/** A world with a feature that does nothing but have challenges. */
function withChallenges(
  inWorld: InWorld,
  body: (world: World, challenges: Challenges, users: FeatureKit['users']) => Promise<unknown>,
) {
  let kit: FeatureKit | undefined
  const probe: AuthFeature = {
    name: 'probe' as never,
    tables: [CHALLENGES],
    connect(given) {
      kit = given
      return {}
    },
  }
  return inWorld({ withFeatures: true, auth: { features: [probe] } }, (world) =>
    body(world, kit!.challenges, kit!.users),
  )
}

const ada = async (users: FeatureKit['users']) => (await users.findUserByEmail(ADA.email))!

onEachDatabase('Challenges', (inWorld) => {
  it('are stored without their token, and found under their purpose alone', () =>
    withChallenges(inWorld, async (world, challenges, users) => {
      await signedUp(world)
      const user = await ada(users)
      const token = await challenges.issue({ ...ABOUT, user, data: 'ada@example.org' })
      const rows = await world.storage.rows('auth_challenges')
      expect(rows).to.have.length(1)
      expect(JSON.stringify(rows)).to.not.include(token)
      expect(rows[0]).to.include({ purpose: 'verify-email', user_id: user.id })
      const found = await challenges.find('verify-email', token)
      expect([found?.user.id, found?.data]).to.deep.equal([user.id, 'ada@example.org'])
      expect(await challenges.find('change-email', token)).to.equal(null)
      for (const other of ['', `${token}A`, token.slice(1), token.toLowerCase()])
        expect(await challenges.find('verify-email', other)).to.equal(null)
    }))

  it('are redeemed by one of 32 concurrent calls, and valid again once restored', () =>
    withChallenges(inWorld, async (world, challenges, users) => {
      await signedUp(world)
      const token = await challenges.issue({ ...ABOUT, user: await ada(users), data: 'x', tries: 3 })
      const found = (await challenges.find('verify-email', token))!
      const results = await Promise.all(Array.from({ length: 32 }, () => challenges.redeem(found)))
      expect(results.filter(Boolean)).to.have.length(1)
      expect(await challenges.find('verify-email', token)).to.equal(null)
      await challenges.restore(found)
      expect(await challenges.find('verify-email', token)).to.deep.equal(found)
    }))

  it('end at their expiry, and are deleted with the housekeeping', () =>
    withChallenges(inWorld, async (world, challenges, users) => {
      await signedUp(world)
      const token = await challenges.issue({ ...ABOUT, user: await ada(users) })
      world.clock.advance(HOUR - 1)
      const found = (await challenges.find('verify-email', token))!
      world.clock.advance(1)
      expect(await challenges.find('verify-email', token)).to.equal(null)
      expect(await challenges.redeem(found)).to.equal(false)
      await world.client().post('/auth/login', ADA)
      await settle(world)
      expect(await world.storage.rows('auth_challenges')).to.deep.equal([])
    }))

  it('allow as many attempts as they have tries, however many come together', () =>
    withChallenges(inWorld, async (world, challenges, users) => {
      await signedUp(world)
      const token = await challenges.issue({ ...ABOUT, user: await ada(users), tries: 5 })
      const attempt = () => challenges.attempt('verify-email', token)
      const results = await Promise.all(Array.from({ length: 32 }, attempt))
      expect(results.filter((found) => found !== null)).to.have.length(5)
      expect(await attempt()).to.equal(null)
      const unlimited = await challenges.issue({ ...ABOUT, user: await ada(users) })
      for (let count = 0; count < 7; count++)
        expect(await challenges.attempt('verify-email', unlimited)).to.not.equal(null)
    }))

  it('that are offered are spent once, also by a process whose clock is a minute behind', () =>
    withChallenges(inWorld, async (world, challenges, users) => {
      await signedUp(world)
      const user = await ada(users)
      const offer = challenges.offer('passkey-login', HOUR)
      const spend = () => challenges.spend('passkey-login', offer, user)
      const spent = await Promise.all(Array.from({ length: 8 }, spend))
      expect(spent.filter(Boolean)).to.have.length(1)
      world.clock.advance(HOUR + 59)
      await prune(world)
      world.clock.advance(-60)
      expect(await spend()).to.equal(false)
      world.clock.advance(61)
      await prune(world)
      expect(await world.storage.rows('auth_challenges')).to.deep.equal([])
      expect(await spend()).to.equal(false)
    }))

  it('end with a new password, signOut and disable, and with a revocation of their purpose', () =>
    withChallenges(inWorld, async (world, challenges, users) => {
      const client = await signedUp(world)
      const { authProvider } = world.app.services as unknown as {
        authProvider: Record<'signOut' | 'disable' | 'enable', (userId: string) => Promise<unknown>>
      }
      const { id } = await ada(users)
      const changePassword = { current: PASSWORD, next: 'another horse battery' }
      const issue = async (purpose: 'verify-email' | 'change-email') =>
        challenges.issue({ ...ABOUT, purpose, user: await ada(users) })
      for (const end of [
        () => client.post('/auth/change-password', changePassword),
        () => authProvider.signOut(id),
        () => authProvider.disable(id),
      ]) {
        const token = await issue('verify-email')
        await end()
        expect(await challenges.find('verify-email', token)).to.equal(null)
      }
      await authProvider.enable(id)
      const [token, other] = [await issue('verify-email'), await issue('change-email')]
      await challenges.revoke('verify-email', id)
      expect(await challenges.find('verify-email', token)).to.equal(null)
      expect(await challenges.find('change-email', other)).to.not.equal(null)
    }))
})
