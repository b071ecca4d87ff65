import { expect } from 'chai'
import type { PasswordSession } from '../../../plugins/auth/basic/index.ts'
import type { Answer, Client } from './support/client.ts'
import { ADA, inWorld, PASSWORD, resetTokenFor, signedUp, type World } from './support/world.ts'

const NEXT = 'another horse battery'

/** Makes the nth statement from now on fail before it runs, as it would when the process or the database dies there. */
function failAt(world: World, statement: number): { restore: () => void; reached: () => boolean } {
  const { source } = world
  const create = source.createQueryRunner.bind(source)
  let count = 0
  source.createQueryRunner = (mode) => {
    const runner = create(mode)
    const query = runner.query.bind(runner) as (...args: unknown[]) => Promise<unknown>
    runner.query = (async (...args: unknown[]) => {
      count += 1
      if (count === statement) throw new Error('disk I/O error')
      return query(...args)
    }) as typeof runner.query
    return runner
  }
  return { restore: () => (source.createQueryRunner = create), reached: () => count >= statement }
}

/** Waits for what earlier requests do after their answers. */
function settle(world: World): Promise<void> {
  return (world.app.services as { authProvider: PasswordSession }).authProvider.flows.settled()
}

/** Runs a request once for each statement that it makes, with that statement failing, and looks at what is left. */
async function sweep(
  prepare: (world: World) => Promise<{ request: () => Promise<Answer>; client: Client }>,
  check: (world: World, client: Client, answer: Answer) => Promise<void>,
): Promise<number> {
  for (let statement = 1; ; statement++) {
    let reached = true
    await inWorld({}, async (world) => {
      const { request, client } = await prepare(world)
      await settle(world)
      const fault = failAt(world, statement)
      const answer = await request()
      fault.restore()
      // What comes after an answer, such as housekeeping, is no statement of the request.
      reached = fault.reached() && answer.status >= 500
      if (reached) await check(world, client, answer)
    })
    if (!reached) return statement - 1
  }
}

async function isPassword(world: World, password: string): Promise<boolean> {
  return (await world.client().post('/auth/login', { ...ADA, password })).status === 200
}

describe('a table that is older than the framework', () => {
  for (const [table, column] of [
    ['auth_users', 'password_version'],
    ['auth_refresh_tokens', 'rotated_at'],
  ])
    it(`without ${column} fails with its name and ends no session`, () =>
      inWorld({}, async (world) => {
        const client = await signedUp(world)
        await world.source.query(`alter table ${table} rename column ${column} to other`)
        const answer = await client.post('/auth/refresh')
        expect([answer.status, answer.setCookie]).to.deep.equal([500, undefined])
        expect(answer.text).to.include(column)
        await world.source.query(`alter table ${table} rename column other to ${column}`)
        expect((await client.post('/auth/refresh')).status).to.equal(200)
      }))
})

describe('a failure between any two statements', () => {
  it('of a reset never leaves an old session beside the new password', async () => {
    const statements = await sweep(
      async (world) => {
        const client = await signedUp(world)
        const token = await resetTokenFor(world)
        return {
          client,
          request: () => world.client().post('/auth/reset-password', { token, password: NEXT }),
        }
      },
      async (world, client, answer) => {
        expect(answer.status).to.equal(500)
        const isNew = await isPassword(world, NEXT)
        expect(isNew).to.equal(!(await isPassword(world, PASSWORD)))
        expect((await client.post('/auth/refresh')).status).to.equal(isNew ? 401 : 200)
      },
    )
    expect(statements).to.be.at.least(5)
  })

  it('of a change of the password never leaves another session beside the new one', async () => {
    const statements = await sweep(
      async (world) => {
        const [client, other] = [await signedUp(world), world.client()]
        await other.post('/auth/login', ADA)
        const request = () => client.post('/auth/change-password', { current: PASSWORD, next: NEXT })
        return { client: other, request }
      },
      async (world, other, answer) => {
        expect(answer.status).to.equal(500)
        const isNew = await isPassword(world, NEXT)
        expect(isNew).to.equal(!(await isPassword(world, PASSWORD)))
        expect((await other.post('/auth/refresh')).status).to.equal(isNew ? 401 : 200)
      },
    )
    expect(statements).to.be.at.least(5)
  })

  it('of a refresh leaves a session that can be refreshed with the same cookie', async () => {
    const statements = await sweep(
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
})
