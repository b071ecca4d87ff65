import { expect } from 'chai'
import { notices } from '@mortar/auth/notices'
import { recent } from '@mortar/auth/recent'
import { totp } from '@mortar/auth/totp'
import type { AccountMail } from '../../../../../plugins/auth/features/mails.ts'
import type { Client } from '../../support/client.ts'
import { onEachStore } from '../../support/on-each-store.ts'
import {
  challengeFor,
  enrolled,
  logInWith,
  started,
  WITH_TOTP,
  type Enrolled,
} from '../../support/second-factor.ts'
import { ADA, settle, type World, type WorldOptions } from '../../support/world.ts'
import { prune, tokenIn } from '../support/account-scene.ts'

onEachStore('A second factor', (inWorld) => {
  for (const [what, act, isRight] of CRASHES())
    it(`is never half done when the process ends within ${what}`, () =>
      inWorld(WITH_TOTP, async (world) => {
        for (let statement = 1; ; statement++) {
          await world.storage.deleteUsers()
          const scene = what === 'its confirmation' ? await started(world) : await enrolled(world)
          const before = await act.prepare?.(world, scene)
          const fault = world.storage.interruptions.failFrom(statement)
          const { status } = await act.run(world, scene, before)
          fault.restore()
          if (!fault.reached()) {
            expect(status).to.be.below(300)
            break
          }
          expect(status, String(statement)).to.be.oneOf([200, 204, 500, 503])
          await isRight(world, scene, `before statement ${statement}`)
        }
      }))

  it('keeps the user signed in when a connection is lost as the session begins again', () =>
    inWorld(WITH_TOTP, async (world) => {
      const { client, next } = await started(world)
      world.storage.interruptions.reject('insert sessions', 'The connection is lost.', 1)
      const { status, body } = await client.post('/auth/totp/confirm', { code: next() })
      expect([status, body.recoveryCodes?.length]).to.deep.equal([200, 10])
    }))
})

onEachStore('Adding a second factor', (inWorld) => {
  it('ends the other sessions and tells its owner, wherever the process ends', async () => {
    for (let statement = 1; ; statement++) {
      const mails: AccountMail[] = []
      let isReached = false
      await inWorld(withNotices(mails), async (world) => {
        isReached = await addedByKilled(world, statement, mails)
      })
      if (!isReached) break
    }
  })

  it('is not finished by the clean-up of another process while a request does it', () => {
    const mails: AccountMail[] = []
    return inWorld(withNotices(mails), async (world) => {
      const { client, next } = await started(world)
      world.storage.interruptions.meanwhile('insert sessions', () => prune(world))
      expect((await client.post('/auth/totp/confirm', { code: next() })).status).to.equal(200)
      await settle(world)
      expect(mails.map(({ kind }) => kind)).to.deep.equal(['factor-added'])
      expect((await client.post('/auth/refresh')).status).to.equal(200)
    })
  })
})

function withNotices(mails: AccountMail[]): WorldOptions {
  const features = [recent(), totp(), notices()]
  return { withFeatures: true, auth: { features, sendMail: (mail) => mails.push(mail) } }
}

/** Confirms an authenticator in a process that ends before a statement. @returns false if there are less statements. */
async function addedByKilled(world: World, statement: number, mails: readonly AccountMail[]) {
  const when = `before statement ${statement}`
  const { client, next } = await started(world)
  const other = world.client()
  await other.post('/auth/login', ADA)
  const fault = world.storage.interruptions.failFrom(statement)
  await client.post('/auth/totp/confirm', { code: next() })
  fault.restore()
  const isReached = fault.reached()
  await settle(world)
  world.clock.advance(3600)
  await prune(world)
  await settle(world)
  const added = mails.filter(({ kind }) => kind === 'factor-added')
  const isActive = await comeIn(world, { next }, when)
  expect(added.length > 0, when).to.equal(isActive)
  expect((await other.post('/auth/refresh')).status, when).to.equal(isActive ? 401 : 200)
  if (!isActive) return isReached
  await world.client().post('/auth/not-me', { token: tokenIn(added.at(-1)!.link!) })
  expect(await world.storage.rows('auth_totp'), when).to.deep.equal([])
  if (!isReached) expect(added).to.have.length(1)
  return isReached
}

type Judge = (world: World, scene: Enrolled, when: string) => Promise<unknown>

interface Crash {
  prepare?(world: World, scene: Enrolled): Promise<string>
  run(world: World, scene: Enrolled, prepared: string | undefined): Promise<{ status: number }>
}

/** Logs in with the password, and with the next code if needed. @returns true if the account asked for a code. */
async function comeIn(world: World, { next }: Pick<Enrolled, 'next'>, when: string): Promise<boolean> {
  const browser: Client = world.client()
  const first = await browser.post('/auth/login', ADA)
  if (first.status === 200) return false
  const { challenge } = first.body
  const second = await browser.post('/auth/login/factor', { challenge, code: next() })
  expect(second.status, `${when}: ${second.text}`).to.equal(200)
  return true
}

function CRASHES(): readonly (readonly [string, Crash, Judge])[] {
  const worksOn = async (world: World, scene: Enrolled, when: string) =>
    expect(await comeIn(world, scene, when), when).to.equal(true)
  return [
    [
      'its confirmation',
      { run: (_world, { client, next }) => client.post('/auth/totp/confirm', { code: next() }) },
      async (world, scene, when) => void (await comeIn(world, scene, when)),
    ],
    [
      'a login',
      {
        prepare: (world) => challengeFor(world.client()),
        run: (world, { next }, challenge) =>
          world.client().post('/auth/login/factor', { challenge, code: next() }),
      },
      worksOn,
    ],
    [
      'a renewal of the recovery codes',
      { run: (_world, { client, next }) => client.post('/auth/recovery-codes', { code: next() }) },
      async (world, scene, when) => {
        await worksOn(world, scene, when)
        const old = await logInWith(world.client(), { recoveryCode: scene.recoveryCodes[0] })
        const rows = await world.storage.rows('auth_recovery_codes')
        // A document database keeps the rows of the deleted users.
        const { recovery_batch: batch } = (await world.storage.rows('auth_totp')).at(-1)
        const valid = rows.filter((row) => row.batch === batch).length
        expect([old.status, valid], when).to.deep.equal(old.status === 200 ? [200, 9] : [401, 10])
      },
    ],
    [
      'its removal',
      { run: (_world, { client, next }) => client.post('/auth/totp/remove', { code: next() }) },
      async (world, scene, when) => void (await comeIn(world, scene, when)),
    ],
  ]
}
