import { expect } from 'chai'
import { notices } from '@mortar/auth/notices'
import { passkeys } from '@mortar/auth/passkeys'
import { recent } from '@mortar/auth/recent'
import { SoftAuthenticator } from '@mortar/auth/testing'
import { totp } from '@mortar/auth/totp'
import type { Answer, Client } from '../support/client.ts'
import { onEachDatabase } from '../support/on-each-store.ts'
import { add, assertion, begin } from '../support/passkey-scene.ts'
import { codeOf, enrol } from '../support/second-factor.ts'
import { ADA, PASSWORD, type World, type WorldOptions } from '../support/world.ts'
import { provider } from './support/account-scene.ts'

const NEXT = 'another horse battery'
const OPTIONS: WorldOptions = {
  withFeatures: true,
  auth: {
    appUrl: 'http://localhost:3000',
    features: [recent(), totp(), passkeys(), notices()],
    sendMail: () => undefined,
  },
}

/** Two processes on one database, and Ada with a browser in each. */
interface Scene {
  readonly worlds: readonly [World, World]
  readonly browsers: readonly [Client, Client]
}

type Send = () => Promise<Pick<Answer, 'status'>>

/** Requests that come together, in both processes by turns, and the check of the end. */
interface Race {
  readonly sends: readonly Send[]
  check(statuses: readonly number[]): Promise<void> | void
}

const rowsOf = ({ worlds: [world] }: Scene, table: string) => world.storage.rows(table)
const refreshed = async (client: Client) => (await client.post('/auth/refresh')).status
const count = (statuses: readonly number[], wanted: number) =>
  statuses.filter((status) => status === wanted).length
const times = <T>(number: number, make: (index: 0 | 1) => T) =>
  Array.from({ length: number }, (_, index) => make((index % 2) as 0 | 1))

/** The second step of a login in a process. */
async function step({ worlds }: Scene, index: 0 | 1, codes: object): Promise<Send> {
  const browser = worlds[index].client()
  const { challenge } = (await browser.post('/auth/login', ADA)).body
  return () => browser.post('/auth/login/factor', { challenge, ...codes })
}
const steps = (scene: Scene, codes: object) => Promise.all(times(6, (index) => step(scene, index, codes)))

/** The authenticator of the user, set up by the first browser. The second has signed in by it. */
async function enrolledIn(scene: Scene) {
  const { worlds, browsers } = scene
  const own = await enrol(worlds[0], browsers[0])
  const next = () => {
    const code = own.next()
    worlds[1].clock.time = worlds[0].clock.time
    return code
  }
  const { challenge } = (await browsers[1].post('/auth/login', ADA)).body
  expect((await browsers[1].post('/auth/login/factor', { challenge, code: next() })).status).to.equal(200)
  return { ...own, next }
}

/** The recovery codes that work are exactly those of a batch. */
async function expectCodes(scene: Scene, codes: readonly string[]) {
  const [{ recovery_batch: batch }] = await rowsOf(scene, 'auth_totp')
  const rows = await rowsOf(scene, 'auth_recovery_codes')
  expect(rows.filter((row) => row.batch === batch)).to.have.length(codes.length)
  const [recoveryCode] = codes
  expect((await (await step(scene, 1, { recoveryCode }))()).status).to.equal(200)
}

const RACES: Readonly<Record<string, (scene: Scene) => Promise<Race>>> = {
  'confirmations of one authenticator': async (scene) => {
    const { secret } = (await scene.browsers[0].post('/auth/totp')).body
    const code = codeOf(scene.worlds[0], secret)
    const answers: Answer[] = []
    const tabs = times(6, (index) => scene.browsers[index].copy())
    return {
      sends: tabs.map((tab) => async () => {
        const answer = await tab.post('/auth/totp/confirm', { code })
        if (answer.status === 200) answers.push(answer)
        return answer
      }),
      async check(statuses) {
        expect(count(statuses, 200), statuses.join()).to.equal(1)
        await expectCodes(scene, answers[0]!.body.recoveryCodes)
        const alive = await Promise.all(tabs.map((tab) => refreshed(tab)))
        expect(count(alive, 200), alive.join()).to.equal(1)
      },
    }
  },
  'uses of one code': async (scene) => {
    const { next } = await enrolledIn(scene)
    return {
      sends: await steps(scene, { code: next() }),
      check: (statuses) => void expect(count(statuses, 200), statuses.join()).to.equal(1),
    }
  },
  'uses of one recovery code': async (scene) => {
    const { recoveryCodes } = await enrolledIn(scene)
    return {
      sends: await steps(scene, { recoveryCode: recoveryCodes[0] }),
      async check(statuses) {
        expect(count(statuses, 200), statuses.join()).to.equal(1)
        await expectCodes(scene, recoveryCodes.slice(1))
      },
    }
  },
  'a use of each recovery code': async (scene) => {
    const { recoveryCodes } = await enrolledIn(scene)
    const sends = await Promise.all(
      recoveryCodes.map((recoveryCode, index) => step(scene, (index % 2) as 0 | 1, { recoveryCode })),
    )
    return {
      sends,
      async check(statuses) {
        expect(count(statuses, 200), statuses.join()).to.equal(10)
        expect(await rowsOf(scene, 'auth_recovery_codes')).to.deep.equal([])
      },
    }
  },
  'renewals of the recovery codes, and uses of them': async (scene) => {
    const { recoveryCodes, next } = await enrolledIn(scene)
    const renewed: Answer[] = []
    const renew = (index: 0 | 1, codes: object) => async () => {
      const answer = await scene.browsers[index].copy().post('/auth/recovery-codes', codes)
      if (answer.status === 200) renewed.push(answer)
      return answer
    }
    const [spent, first, second] = recoveryCodes
    return {
      sends: [
        renew(0, { code: next() }),
        renew(1, { recoveryCode: first }),
        await step(scene, 0, { recoveryCode: second }),
        await step(scene, 1, { recoveryCode: second }),
        await step(scene, 0, { recoveryCode: first }),
      ],
      async check(statuses) {
        expect(renewed.length, statuses.join()).to.be.above(0)
        const again = await step(scene, 0, { recoveryCode: spent })
        expect((await again()).status).to.equal(401)
        const [{ recovery_batch: batch }] = await rowsOf(scene, 'auth_totp')
        const rows = await rowsOf(scene, 'auth_recovery_codes')
        expect(rows.every((row) => row.batch === batch) && rows.length, statuses.join()).to.equal(10)
        const valid = await Promise.all(
          renewed.map(async ({ body }) => {
            const use = await step(scene, 1, { recoveryCode: body.recoveryCodes[0] })
            return (await use()).status
          }),
        )
        expect(count(valid, 200), valid.join()).to.equal(1)
      },
    }
  },
  'removals of an authenticator, a login and a renewal': async (scene) => {
    const { recoveryCodes, next } = await enrolledIn(scene)
    const remove = (index: 0 | 1, codes: object) => () =>
      scene.browsers[index].copy().post('/auth/totp/remove', codes)
    const [first, second, third] = recoveryCodes
    return {
      sends: [
        remove(0, { code: next() }),
        remove(1, { recoveryCode: first }),
        await step(scene, 0, { recoveryCode: second }),
        () => scene.browsers[1].copy().post('/auth/recovery-codes', { recoveryCode: third }),
      ],
      async check(statuses) {
        // A renewal that is faster than both leaves the authenticator.
        const isLeft = (await rowsOf(scene, 'auth_totp')).length
        expect(isLeft, statuses.join()).to.equal(1 - count(statuses.slice(0, 2), 204))
        const { status } = await scene.worlds[1].client().post('/auth/login', ADA)
        expect(status).to.equal(isLeft ? 401 : 200)
        const codes = await rowsOf(scene, 'auth_recovery_codes')
        expect(codes.length, statuses.join()).to.equal(isLeft ? 10 : 0)
      },
    }
  },
  'logins with one response of a passkey': async (scene) => {
    const device = new SoftAuthenticator()
    expect((await add(scene.browsers[0], device)).status).to.equal(201)
    const response = await assertion(scene.worlds[0].client(), device)
    return {
      sends: times(
        6,
        (index) => () => scene.worlds[index].client().post('/auth/login/passkey', { response }),
      ),
      check: (statuses) => void expect(count(statuses, 200), statuses.join()).to.equal(1),
    }
  },
  'additions of one passkey': async (scene) => {
    const device = new SoftAuthenticator()
    const response = device.create(await begin(scene.browsers[0]))
    return {
      sends: times(
        6,
        (index) => () => scene.browsers[index].copy().post('/auth/passkeys', { response, name: 'Phone' }),
      ),
      async check(statuses) {
        expect(count(statuses, 201), statuses.join()).to.equal(1)
        expect(await rowsOf(scene, 'auth_passkeys')).to.have.length(1)
      },
    }
  },
  'removals of the last ways in': async (scene) => {
    const ids = await Promise.all(
      times(4, async (index) => String((await add(scene.browsers[index], new SoftAuthenticator())).body.id)),
    )
    await scene.worlds[0].storage.changeUsers({ password_hash: null })
    return {
      sends: ids.map(
        (each, index) => () => scene.browsers[index % 2]!.copy().delete(`/auth/passkeys/${each}`),
      ),
      async check(statuses) {
        const { length } = await rowsOf(scene, 'auth_passkeys')
        expect([length > 0, length], statuses.join()).to.deep.equal([true, 4 - count(statuses, 204)])
      },
    }
  },
  'confirmations of one session': async (scene) => {
    const { next } = await enrolledIn(scene)
    const code = next()
    const tabs = times(6, (index) => scene.browsers[0].copy(scene.worlds[index].app))
    return {
      sends: tabs.map((tab) => () => tab.post('/auth/confirm', { password: PASSWORD, code })),
      async check(statuses) {
        expect(count(statuses, 200), statuses.join()).to.equal(1)
        const alive = await Promise.all(tabs.map((tab) => refreshed(tab)))
        expect(count(alive, 200), alive.join()).to.equal(1)
      },
    }
  },
  'changes of a session that ends': async (scene) => {
    const { next, recoveryCodes } = await enrolledIn(scene)
    const [first, second, third] = recoveryCodes
    const [{ id }] = await scene.worlds[0].storage.users()
    const tabs = times(5, (index) => scene.browsers[index].copy())
    const device = new SoftAuthenticator()
    const response = device.create(await begin(scene.browsers[0]))
    const code = next()
    const login = await step(scene, 1, { recoveryCode: third })
    return {
      sends: [
        () =>
          provider(scene.worlds[1])
            .signOut(id)
            .then(() => ({ status: 204 })),
        () => tabs[0]!.post('/auth/confirm', { password: PASSWORD, code }),
        () => tabs[1]!.post('/auth/confirm', { password: PASSWORD, recoveryCode: first }),
        () => tabs[2]!.post('/auth/passkeys', { response, name: 'Phone' }),
        () => tabs[3]!.post('/auth/recovery-codes', { recoveryCode: second }),
        login,
      ],
      async check(statuses) {
        const alive = await Promise.all([...scene.browsers, ...tabs].map((tab) => refreshed(tab)))
        expect(count(alive, 200), `${statuses.join()} ${alive.join()}`).to.equal(0)
        // What a response has denied is not there.
        const isAdded = statuses[3] === 201
        expect(await rowsOf(scene, 'auth_passkeys')).to.have.length(Number(isAdded))
      },
    }
  },
  'changes of the password with one code': async (scene) => {
    const { next } = await enrolledIn(scene)
    const code = next()
    const tabs = times(6, (index) => scene.browsers[index].copy())
    return {
      sends: tabs.map(
        (tab) => () => tab.post('/auth/change-password', { current: PASSWORD, next: NEXT, code }),
      ),
      async check(statuses) {
        expect(count(statuses, 200), statuses.join()).to.equal(1)
        const alive = await Promise.all(tabs.map((tab) => refreshed(tab)))
        expect(count(alive, 200), alive.join()).to.equal(1)
      },
    }
  },
}

onEachDatabase('Two processes', (inWorld) => {
  for (const [name, prepare] of Object.entries(RACES))
    it(`agree about the end of ${name} that come together`, () =>
      inWorld({ ...OPTIONS, file: true }, (first) =>
        inWorld({ ...OPTIONS, file: first.file }, async (second) => {
          const browsers = [first.client(), second.client()] as const
          expect((await browsers[0].post('/auth/signup', ADA)).status).to.equal(201)
          expect((await browsers[1].post('/auth/login', ADA)).status).to.equal(200)
          const { sends, check } = await prepare({ worlds: [first, second], browsers })
          const statuses = await Promise.all(sends.map(async (send) => (await send()).status))
          expect(
            statuses.every((status) => status < 500),
            statuses.join(),
          ).to.equal(true)
          await check(statuses)
        }),
      ))
})
