import { expect } from 'chai'
import type { AccountOptions } from '@mortar/auth/account'
import type { InWorld, World } from '../support/world.ts'
import { ADA, settle, signedUp } from '../support/world.ts'
import { onEachStore } from '../support/on-each-store.ts'
import { DAY, fillTables, provider, prune, restore, rowsOf, withAccount } from './support/account-scene.ts'

type Scene = ReturnType<typeof withAccount> & { readonly world: World; readonly id: string }

/** Runs `act` once for each of its statements, at which the process ends, each time with an account that is new. */
async function sweep(
  inWorld: InWorld,
  prepare: (scene: Scene) => Promise<() => Promise<unknown>>,
  check: (scene: Scene) => Promise<void>,
): Promise<number> {
  const scene = withAccount()
  let statement = 0
  await inWorld(scene.world, async (world) => {
    for (let reached = true; reached; statement++) {
      await world.storage.deleteUsers()
      world.events.length = 0
      scene.links.length = 0
      await signedUp(world)
      await settle(world)
      const [{ id }] = await world.storage.users()
      const prepared = { ...scene, world, id }
      await fillTables(world, scene.kit, id)
      const act = await prepare(prepared)
      await settle(world)
      const failing = world.storage.interruptions.failFrom(statement + 1)
      await act().catch(() => undefined)
      await settle(world)
      failing.restore()
      reached = failing.reached()
      await check(prepared)
    }
  })
  return statement - 1
}

const endsIn = (world: World) => world.typesOf().filter((type) => type === 'auth.user.deleted')
const logIn = async (world: World) => (await world.client().post('/auth/login', ADA)).status

onEachStore('A process that ends before any statement', (inWorld) => {
  it('of a deletion leaves an account that is open, or closed and due', async () => {
    const count = await sweep(
      inWorld,
      async ({ world }) => {
        const client = world.client()
        await client.post('/auth/login', ADA)
        return () => client.delete('/auth/account')
      },
      async ({ world, tables, id }) => {
        const isOpen = (await logIn(world)) === 200
        world.clock.advance(14 * DAY)
        await prune(world)
        const left = Object.values(await rowsOf(world, tables, id)).filter((rows) => rows > 0)
        if (isOpen) expect((await rowsOf(world, tables, id))['auth_totp']).to.equal(1)
        else expect(left).to.deep.equal([])
        expect(await world.storage.rows('auth_deletions')).to.deep.equal([])
      },
    )
    expect(count).to.be.at.least(6)
  })

  it('of a deletion leaves no mark with which a disabled account would be deleted', async () => {
    let open = 0
    await sweep(
      inWorld,
      async ({ world }) => {
        const client = world.client()
        await client.post('/auth/login', ADA)
        return () => client.delete('/auth/account')
      },
      async ({ world, id }) => {
        if ((await logIn(world)) !== 200) return
        open += 1
        await provider(world).disable(id)
        world.clock.advance(15 * DAY)
        await prune(world)
        expect(await world.storage.users()).to.have.length(1)
      },
    )
    expect(open).to.be.at.least(3)
  })

  it('of a return leaves a link that works, or an account that is back', async () => {
    const count = await sweep(
      inWorld,
      async ({ world, links }) => {
        const client = world.client()
        await client.post('/auth/login', ADA)
        await client.delete('/auth/account')
        await settle(world)
        return () => restore(world, links[0]!)
      },
      async ({ world, links }) => {
        const status = await logIn(world)
        if (status !== 200) expect((await restore(world, links[0]!)).status).to.equal(200)
        expect(await logIn(world)).to.equal(200)
        world.clock.advance(15 * DAY)
        await prune(world)
        expect(await world.storage.users()).to.have.length(1)
      },
    )
    expect(count).to.be.at.least(4)
  })

  it('of the end of an account leaves it closed, and the next process deletes the rest', async () => {
    const count = await sweep(
      inWorld,
      async ({ world }) => {
        const client = world.client()
        await client.post('/auth/login', ADA)
        await client.delete('/auth/account')
        world.clock.advance(14 * DAY)
        return () => prune(world)
      },
      async ({ world, tables, id }) => {
        expect(await logIn(world)).to.equal(401)
        await prune(world)
        const left = Object.entries(await rowsOf(world, tables, id)).filter(([, rows]) => rows > 0)
        expect(left).to.deep.equal([])
        expect(endsIn(world)).to.have.length(1)
      },
    )
    expect(count).to.be.at.least(8)
  })

  it('of a deletion by the application leaves an account that a second call deletes', async () => {
    const count = await sweep(
      inWorld,
      async ({ world, id }) =>
        () =>
          provider(world).deleteUser(id),
      async ({ world, tables, id }) => {
        await provider(world).deleteUser(id)
        const left = Object.entries(await rowsOf(world, tables, id)).filter(([, rows]) => rows > 0)
        expect(left).to.deep.equal([])
        expect(endsIn(world)).to.have.length(1)
      },
    )
    expect(count).to.be.at.least(8)
  })
})

onEachStore('A statement whose reply is lost', (inWorld) => {
  it('of a deletion by the application leaves no account without the event of its end', () => {
    const scene = withAccount()
    return inWorld(scene.world, async (world) => {
      let isReached = true
      for (let statement = 1; isReached; statement++) {
        await signedUp(world)
        const [{ id }] = await world.storage.users()
        await settle(world)
        const before = endsIn(world).length
        const fault = world.storage.interruptions.loseReply(statement)
        const isFailed = await provider(world)
          .deleteUser(id)
          .then(
            () => false,
            () => true,
          )
        isReached = fault.reached()
        fault.restore()
        if (isFailed) await provider(world).deleteUser(id)
        expect(endsIn(world).length - before, `statement ${statement}`).to.equal(1)
      }
    })
  })

  for (const [name, hasChanged, status] of [
    ['reports an account that is closed', false, 204],
    ['reports no account that an operator has closed again meanwhile', true, 500],
  ] as const)
    it(name, () => {
      const scene = withAccount()
      return inWorld(scene.world, async (world) => {
        const client = await signedUp(world)
        const [{ id }] = await world.storage.users()
        world.storage.interruptions.afterwards('update users', async () => {
          if (hasChanged) for (const act of ['enable', 'disable'] as const) await provider(world)[act](id)
          throw new Error('The reply is lost.')
        })
        expect((await client.delete('/auth/account')).status).to.equal(status)
        await settle(world)
        expect(scene.links).to.have.length(hasChanged ? 0 : 1)
      })
    })
})

/** Opens a second process on the store, whose clock has reached the end of the grace. */
async function beside(
  inWorld: InWorld,
  body: (scene: Scene & { second: World; check: () => Promise<void> }) => Promise<unknown>,
  options?: AccountOptions,
) {
  const scene = withAccount(options)
  await inWorld({ ...scene.world, file: true }, async (world) => {
    const client = await signedUp(world)
    const [{ id }] = await world.storage.users()
    await fillTables(world, scene.kit, id)
    await client.delete('/auth/account')
    await settle(world)
    await inWorld({ ...withAccount(options).world, file: world.file }, async (second) => {
      second.clock.time = world.clock.time + 14 * DAY * 1000
      const check = async () => {
        await settle(world)
        const rows = await rowsOf(world, scene.tables, id)
        if (rows['auth_users'] === 0)
          return void expect(Object.values(rows).filter((count) => count > 0)).to.deep.equal([])
        expect(await logIn(world)).to.equal(200)
        expect([rows['auth_totp'], rows['auth_accounts'], rows['auth_deletions']]).to.deep.equal([1, 1, 0])
      }
      await body({ ...scene, world, id, second, check })
    })
  })
}

onEachStore('Two processes', (inWorld) => {
  it('of which one gives an account back while the other deletes it leave it whole', () =>
    beside(inWorld, async ({ world, second, links, check }) => {
      second.storage.interruptions.meanwhile('delete users', async () => {
        expect((await restore(world, links[0]!)).status).to.equal(200)
      })
      await prune(second)
      expect(await world.storage.users()).to.have.length(1)
      await check()
    }))

  it('of which one deletes an account while the other gives it back leave nothing of it', () =>
    beside(inWorld, async ({ world, second, links, check }) => {
      world.storage.interruptions.meanwhile('update users', () => prune(second))
      expect((await restore(world, links[0]!)).status).to.equal(401)
      expect(await world.storage.users()).to.deep.equal([])
      await check()
    }))

  for (const isFailing of [false, true])
    it(`of which one ${isFailing ? 'fails to delete' : 'deletes'} the data of an account never give it back in the other, whose clock is behind`, () => {
      const answers: unknown[] = []
      let giveBack = async () => {}
      const eraseData = async () => {
        await giveBack()
        if (isFailing) throw new Error('The reply is lost.')
      }
      return beside(
        inWorld,
        async ({ world, second, links }) => {
          giveBack = async () => void answers.push((await restore(world, links[0]!)).body.code)
          for (let time = 0; time < 2; time++) await prune(second)
          await giveBack()
          expect(answers).to.deep.equal(Array.from({ length: isFailing ? 3 : 2 }, () => 'invalid_link'))
          expect(await world.storage.users()).to.have.length(isFailing ? 1 : 0)
        },
        { eraseData },
      )
    })

  it('of which one gives an account back never delete its data in the other, whose clock is ahead', () => {
    let erasures = 0
    return beside(
      inWorld,
      async ({ world, second, links, check }) => {
        world.storage.interruptions.meanwhile('update users', () => prune(second))
        expect((await restore(world, links[0]!)).status).to.equal(200)
        expect(erasures).to.equal(0)
        await check()
      },
      { eraseData: () => (erasures += 1) },
    )
  })

  it('of which an operator disables an account while its user deletes it keep it', () => {
    const scene = withAccount()
    return inWorld(scene.world, async (world) => {
      const client = await signedUp(world)
      const [{ id }] = await world.storage.users()
      world.storage.interruptions.afterwards('select users', () => provider(world).disable(id))
      expect((await client.delete('/auth/account')).status).to.equal(401)
      world.clock.advance(15 * DAY)
      await prune(world)
      expect(await world.storage.users()).to.have.length(1)
      expect(await world.storage.rows('auth_deletions')).to.deep.equal([])
    })
  })

  it('that delete accounts at the same time delete them once', () =>
    beside(inWorld, async ({ world, second, check }) => {
      world.clock.time = second.clock.time
      await Promise.all([prune(world), prune(second), prune(world), prune(second)])
      await check()
      const deleted = [...world.typesOf(), ...second.typesOf()].filter((type) => type === 'auth.user.deleted')
      expect(deleted).to.have.length(1)
    }))
})
