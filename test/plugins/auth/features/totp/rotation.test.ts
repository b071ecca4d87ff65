import { expect } from 'chai'
import { auth } from '@mortar/auth'
import { accountCommands } from '../../../../../plugins/auth/commands.ts'
import { authFindings } from '../../../../../plugins/auth/doctor.ts'
import type { BrickServices } from 'mortar'
import { startupErrorOf } from '../../../../support/startup-error-of.ts'
import { onEachStore } from '../../support/on-each-store.ts'
import { codeOf, enrol, enrolled, logInWith, WITH_TOTP } from '../../support/second-factor.ts'
import { ADA, SECRET, type World, type WorldOptions } from '../../support/world.ts'

const NEW = 'a new secret of the tests that is long enough for anything'
const withSecrets = (secret: readonly string[], file?: string): WorldOptions => ({
  ...WITH_TOTP,
  auth: { ...WITH_TOTP.auth, secret },
  file: file ?? true,
})
const COMMANDS = accountCommands('basic')
const reseal = ({ app }: World) => COMMANDS['reseal']!.run({ positionals: [], values: {} }, app.services)

/** Levels of the findings of doctor about sealed secrets. */
async function found(world: World, secret: readonly string[]) {
  const provider = world.storage.provider({ ...WITH_TOTP.auth, secret })
  auth(provider)
  const findings = await authFindings(provider, world.app.services as unknown as BrickServices)
  return findings.filter(({ code }) => code === 'MORTAR_AUTH_SEALED').map(({ level }) => level)
}

onEachStore('A new secret of the application', (inWorld) => {
  it('opens the authenticators of the old one, seals them again on use, and then works alone', () =>
    inWorld(withSecrets([SECRET]), async (world) => {
      const { secret } = await enrolled(world)
      const { file } = world.storage
      const [before] = await world.storage.rows('auth_totp')
      world.clock.advance(30)
      const login = async (other: World) => {
        other.clock.time = world.clock.time
        const { status } = await logInWith(other.client(), { code: codeOf(world, secret) })
        world.clock.advance(30)
        return status
      }
      await inWorld(withSecrets([NEW], file), async (alone) => {
        expect(await login(alone)).to.equal(503)
        expect(alone.typesOf()).to.include('auth.factor.unreadable')
        expect(await found(alone, [NEW])).to.deep.equal(['error'])
        expect((await startupErrorOf(() => reseal(alone))).code).to.equal('MORTAR_AUTH_SEALED')
      })
      await inWorld(withSecrets([NEW, SECRET], file), async (both) => {
        expect(await found(both, [NEW, SECRET])).to.deep.equal(['warning'])
        expect(await login(both)).to.equal(200)
        expect(await found(both, [NEW, SECRET])).to.deep.equal([])
      })
      await inWorld(withSecrets([NEW], file), async (alone) => {
        const [after] = await alone.storage.rows('auth_totp')
        expect(after.key_id).to.not.equal(before.key_id)
        expect(after.secret).to.not.equal(before.secret)
        expect(await login(alone)).to.equal(200)
      })
    }))

  it('is in every authenticator after mortar auth reseal', () =>
    inWorld(withSecrets([SECRET]), async (world) => {
      const { secret } = await enrolled(world)
      for (const name of ['b', 'c']) {
        const client = world.client()
        await client.post('/auth/signup', { ...ADA, email: `${name}@example.com` })
        await enrol(world, client)
      }
      const { file } = world.storage
      await inWorld(withSecrets([NEW, SECRET], file), async (both) => {
        expect((await reseal(both)).json).to.deep.equal({ resealed: 3, unreadable: 0 })
        expect((await reseal(both)).json).to.deep.equal({ resealed: 0, unreadable: 0 })
        expect(await found(both, [NEW, SECRET])).to.deep.equal([])
      })
      await inWorld(withSecrets([NEW], file), async (alone) => {
        alone.clock.time = world.clock.time + 30_000
        expect((await logInWith(alone.client(), { code: codeOf(alone, secret) })).status).to.equal(200)
      })
    }))

  it('never restores an authenticator that was replaced while it is resealed', () =>
    inWorld(withSecrets([SECRET]), async (world) => {
      const { client, secret, recoveryCodes } = await enrolled(world)
      await inWorld(withSecrets([NEW, SECRET], world.storage.file), async (both) => {
        both.clock.time = world.clock.time
        let statements = 0
        let replaced = secret
        // Between the look-up and the statement that stores the sealed secret. Statements of features have no name.
        both.storage.interruptions.gate = async (statement) => {
          if (statement !== undefined || ++statements !== 2) return
          const other = client.copy(both.app)
          await other.post('/auth/totp/remove', { recoveryCode: recoveryCodes[0] })
          replaced = (await enrol(both, other)).secret
        }
        expect((await reseal(both)).json).to.deep.equal({ resealed: 0, unreadable: 0 })
        both.clock.advance(30)
        expect((await logInWith(both.client(), { code: codeOf(both, secret) })).status).to.equal(401)
        expect((await logInWith(both.client(), { code: codeOf(both, replaced) })).status).to.equal(200)
      })
    }))

  it('loses no code that is used while it is resealed', () =>
    inWorld(withSecrets([SECRET]), async (world) => {
      const { secret } = await enrolled(world)
      await inWorld(withSecrets([NEW, SECRET], world.storage.file), async (both) => {
        both.clock.time = world.clock.time + 30_000
        const code = codeOf(both, secret)
        const resealing = reseal(both)
        const logins = await Promise.all(Array.from({ length: 4 }, () => logInWith(both.client(), { code })))
        await resealing
        expect(logins.filter(({ status }) => status === 200).length).to.be.at.most(1)
        expect((await both.storage.rows('auth_totp'))[0].last_step).to.not.equal(null)
        both.clock.advance(30)
        expect((await logInWith(both.client(), { code: codeOf(both, secret) })).status).to.equal(200)
        expect(await found(both, [NEW])).to.deep.equal([])
      })
    }))
})
