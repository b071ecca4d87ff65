import { expect } from 'chai'
import { account } from '@mortar/auth/account'
import { audit } from '@mortar/auth/audit'
import { passkeys } from '@mortar/auth/passkeys'
import { recent } from '@mortar/auth/recent'
import { totp } from '@mortar/auth/totp'
import { MOST_RECORDS, NEVER, type TableShape } from '../../../../plugins/auth/accounts/records.ts'
import { AUDIT } from '../../../../plugins/auth/features/audit/table.ts'
import type { AuthFeature, FeatureKit } from '../../../../plugins/auth/features/feature.ts'
import { PASSKEYS } from '../../../../plugins/auth/features/passkeys/table.ts'
import { TOTP } from '../../../../plugins/auth/features/totp/table.ts'
import { ADA, inWorld, signedUp, type World, type WorldOptions } from '../support/world.ts'
import { provider } from './support/account-scene.ts'

/** Options with features that may have many rows, and what adds a row for a user. */
function scene() {
  const kit = {} as FeatureKit
  const probe: AuthFeature = { name: 'probe' as never, connect: (own) => ({ api: Object.assign(kit, own) }) }
  const features = [recent(), account(), audit(), passkeys(), totp(), probe]
  const world: WorldOptions = { withFeatures: true, auth: { features, appUrl: 'http://localhost:3000' } }
  const add = async (shape: TableShape, userId: string, more: Record<string, string | number> = {}) => {
    const key = { [shape.key[0]]: shape.key[0] === 'user_id' ? userId : String(more['id']) }
    const row = { ...more, user_id: userId, created_at: kit.clock.now(), expires_at: NEVER, ...key }
    expect(await kit.records(shape).insert(row)).to.equal(true)
  }
  return { world, add }
}

const idOf = (count: number) => String(count).padStart(8, '0')
const factorsOf = async (world: World, limit: number) =>
  (await provider(world).accounts!.list({ search: '', after: '', limit })).map(({ hasFactor }) => hasFactor)

describe('Rows of a feature beyond those of one look-up', () => {
  it('are in the export of their user', () => {
    const { world: options, add } = scene()
    return inWorld(options, async (world) => {
      const client = await signedUp(world)
      const [{ id }] = await world.storage.users()
      const count = 2 * MOST_RECORDS + 1
      for (let at = 0; at < count; at++)
        await add(AUDIT, id, { id: idOf(at), event: 'auth.logout', request_id: `request ${at}` })
      const { body } = await client.get('/auth/account/export')
      const ids = body.features.auth_audit.map((row: { request_id: string }) => row.request_id)
      expect(new Set(ids.filter((each: string) => each.startsWith('request')))).to.have.lengthOf(count)
      expect(new Set(ids)).to.have.lengthOf(ids.length)
    })
  })

  it('hide the passkey of no other user from an operator', () => {
    const { world: options, add } = scene()
    return inWorld(options, async (world) => {
      for (const email of [ADA.email, 'bob@example.com']) await provider(world).createUser({ ...ADA, email })
      const [many, one] = (await world.storage.users()).map(({ id }) => String(id)).toSorted()
      for (let at = 0; at < MOST_RECORDS; at++) await add(PASSKEYS, many!, { id: idOf(at) })
      await add(PASSKEYS, one!, { id: idOf(MOST_RECORDS) })
      await add(PASSKEYS, one!, { id: '0' })
      expect(await factorsOf(world, 50)).to.deep.equal([true, true])
    })
  })

  it('hide no authenticator on a long page of accounts', () => {
    const { world: options, add } = scene()
    return inWorld(options, async (world) => {
      for (let at = 0; at <= MOST_RECORDS; at++) {
        const { id } = await provider(world).createUser({ ...ADA, email: `user-${at}@example.com` })
        await add(TOTP, id, { confirmed_at: 1 })
      }
      const shown = await factorsOf(world, MOST_RECORDS + 1)
      expect(shown.filter(Boolean)).to.have.lengthOf(MOST_RECORDS + 1)
    })
  })
})
