import { expect } from 'chai'
import { recent } from '@mortar/auth/recent'
import type { Answer, Client } from './support/client.ts'
import { onEachStore } from './support/on-each-store.ts'
import { registered, withPasskeys } from './support/passkey-scene.ts'
import {
  ADA,
  PASSWORD,
  resetTokenFor,
  settle,
  signedUp,
  type InWorld,
  type World,
  type WorldOptions,
} from './support/world.ts'

const NEXT = 'another horse battery'

/** Repeats a request of a new user with each of its statements failing in turn, and checks the remaining state. */
async function sweep(
  inWorld: InWorld,
  prepare: (world: World) => Promise<{ request: () => Promise<Answer>; client: Client }>,
  check: (world: World, client: Client, answer: Answer) => Promise<void>,
  { mayPass = false, options = {} }: { mayPass?: boolean; options?: WorldOptions } = {},
): Promise<number> {
  let statement = 0
  await inWorld(options, async (world) => {
    for (let reached = true; reached; statement++) {
      await world.storage.deleteUsers()
      const { request, client } = await prepare(world)
      await settle(world)
      const fault = world.storage.interruptions.failAt(statement + 1)
      const answer = await request()
      fault.restore()
      // Statements after the response, such as clean-up, do not belong to the request.
      reached = fault.reached() && (mayPass || answer.status >= 500)
      if (reached) await check(world, client, answer)
      await settle(world)
    }
  })
  return statement - 1
}

async function isPassword(world: World, password: string): Promise<boolean> {
  return (await world.client().post('/auth/login', { ...ADA, password })).status === 200
}

/**
 * One password works. A session of before is over if that is the new one; if not, its two tokens are alive or over
 * together.
 */
async function checkSessionAfter(world: World, client: Client, answer: Answer): Promise<void> {
  const isNew = await isPassword(world, NEXT)
  // A statement that fails after the new password is stored belongs to the clean-up, or is repeated.
  expect(answer.status).to.be.oneOf(isNew ? [200] : [500, 503])
  expect(isNew).to.equal(!(await isPassword(world, PASSWORD)))
  const access = (await client.get('/auth/me')).status
  expect(access).to.be.oneOf(isNew ? [401] : [200, 401])
  expect((await client.post('/auth/refresh')).status).to.equal(access)
}

onEachStore('a record that is older than the framework', (inWorld) => {
  for (const [table, column] of [
    ['auth_users', 'password_version'],
    ['auth_refresh_tokens', 'rotated_at'],
  ] as const)
    it(`without ${column} fails with its name and ends no session`, () =>
      inWorld({}, async (world) => {
        const client = await signedUp(world)
        await world.storage.renameColumn(table, column, 'other')
        const answer = await client.post('/auth/refresh')
        expect([answer.status, answer.setCookie]).to.deep.equal([500, undefined])
        expect(answer.text).to.include(column)
        await world.storage.renameColumn(table, 'other', column)
        expect((await client.post('/auth/refresh')).status).to.equal(200)
      }))
})

onEachStore('a failure between any two statements', (inWorld) => {
  it('of a reset never leaves an old session beside the new password', async () => {
    const statements = await sweep(
      inWorld,
      async (world) => {
        const client = await signedUp(world)
        const token = await resetTokenFor(world)
        return {
          client,
          request: () => world.client().post('/auth/reset-password', { token, password: NEXT }),
        }
      },
      checkSessionAfter,
      { mayPass: true },
    )
    expect(statements).to.be.at.least(5)
  })

  it('of a reset leaves its link valid as long as the password is not stored', async () => {
    const reset = { token: '', password: NEXT }
    const statements = await sweep(
      inWorld,
      async (world) => {
        // The first proof of the address removes the passkeys of before.
        const { client } = await registered(world)
        reset.token = await resetTokenFor(world)
        return { client, request: () => world.client().post('/auth/reset-password', reset) }
      },
      async (world, _client, answer) => {
        if (answer.status >= 500)
          expect((await world.client().post('/auth/reset-password', reset)).status).to.equal(200)
      },
      { mayPass: true, options: withPasskeys() },
    )
    expect(statements).to.be.at.least(6)
  })

  it('of a change of the password never leaves another session beside the new one', async () => {
    const statements = await sweep(
      inWorld,
      async (world) => {
        const [client, other] = [await signedUp(world), world.client()]
        await other.post('/auth/login', ADA)
        const request = () => client.post('/auth/change-password', { current: PASSWORD, next: NEXT })
        return { client: other, request }
      },
      checkSessionAfter,
      { mayPass: true },
    )
    expect(statements).to.be.at.least(5)
  })

  it('of a refresh leaves a session that can be refreshed with the same cookie', async () => {
    const statements = await sweep(
      inWorld,
      async (world) => {
        const client = await signedUp(world)
        return { client, request: () => client.copy().post('/auth/refresh') }
      },
      async (_world, client, answer) => {
        expect([answer.status, answer.setCookie]).to.deep.equal([500, undefined])
        expect((await client.post('/auth/refresh')).status).to.equal(200)
      },
    )
    expect(statements).to.equal(3)
  })

  it('of a signup or login can be followed by a login', async () => {
    for (const path of ['/auth/signup', '/auth/login'])
      await sweep(
        inWorld,
        async (world) => {
          if (path === '/auth/login') await signedUp(world)
          return { client: world.client(), request: () => world.client().post(path, ADA) }
        },
        async (world, _client, answer) => {
          expect(answer.status).to.equal(500)
          await world.client().post('/auth/signup', ADA)
          expect(await isPassword(world, PASSWORD)).to.equal(true)
        },
      )
  })

  const replaced: [path: string, body: object][] = [
    ['/auth/login', ADA],
    ['/auth/confirm', { password: PASSWORD }],
  ]
  for (const [path, body] of replaced)
    it(`of ${path} in a browser with a session leaves no session that nobody has`, async () => {
      let before: unknown[] = []
      const idsIn = async (world: World) => (await world.storage.sessions()).map(({ id }) => id)
      const statements = await sweep(
        inWorld,
        async (world) => {
          const client = await signedUp(world)
          before = await idsIn(world)
          return { client, request: () => client.post(path, body) }
        },
        async (world, _client, answer) => {
          const unknown = (await idsIn(world)).filter((id) => !before.includes(id))
          expect(unknown).to.have.length(answer.status >= 500 ? 0 : 1)
        },
        { mayPass: true, options: { auth: { features: [recent()], maxSessions: 2 } } },
      )
      expect(statements).to.be.at.least(4)
    })
})
