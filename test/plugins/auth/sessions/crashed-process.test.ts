import { expect } from 'chai'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import type { Client } from '../support/client.ts'
import { EndingScene, flowsOf, WAYS, withEndings, type Victim } from '../support/ending-scene.ts'
import { onEachStore } from '../support/on-each-store.ts'
import { ADA, PASSWORD, resetTokenFor, settle, signedUp, type InWorld, type World } from '../support/world.ts'

const NEXT = 'another horse battery'
/** Seconds after which a refresh asks for the record of the end. */
const LATER = 900 + 60

const providerOf = ({ app }: World) =>
  (app.services as { authProvider: ConnectedPasswordProvider }).authProvider

interface Prepared {
  readonly world: World
  readonly client: Client
  readonly id: string
  /** A reset token, for the flow that needs one. */
  readonly token: string
}

type Flow = (parts: Prepared) => Promise<unknown>

/** The flows that end sessions, each as a request that a process may not survive. */
const FLOWS: Readonly<Record<string, Flow>> = {
  logout: ({ client }) => client.copy().post('/auth/logout'),
  'change-password': ({ client }) =>
    client.copy().post('/auth/change-password', { current: PASSWORD, next: NEXT }),
  'reset-password': ({ world, token }) =>
    world.client().post('/auth/reset-password', { token, password: NEXT }),
  signOut: ({ world, id }) => providerOf(world).signOut(id),
  disable: ({ world, id }) => providerOf(world).disable(id),
}

onEachStore('A process that ends in the middle of', (inWorld) => {
  for (const [name, flow] of Object.entries(FLOWS))
    it(`${name}, before any of its statements, leaves the session alive or ended everywhere`, async () => {
      const clients: Client[] = []
      await crashFrom(inWorld, flow, clients)
      expect(clients.length).to.be.at.least(3)
    })
})

/**
 * Crashes a process before a statement of a flow, then the next process on the same storage before the next statement,
 * until the flow has no more. Each has a user of its own. The processes never come back: only others are asked.
 */
async function crashFrom(
  inWorld: InWorld,
  flow: Flow,
  clients: Client[],
  file: true | string = true,
): Promise<void> {
  await inWorld({ file }, async (world) => {
    const user = { ...ADA, email: `ada${clients.length}@example.com` }
    const client = await signedUp(world, user)
    const { id } = (await client.get('/auth/me')).body
    const token = await resetTokenFor(world, user.email)
    await settle(world)
    const crash = world.storage.interruptions.failFrom(clients.push(client))
    await flow({ world, client, id, token }).catch(() => undefined)
    await settle(world)
    const isReached = crash.reached()
    crash.restore()
    if (isReached) await crashFrom(inWorld, flow, clients, world.file)
    else await inWorld({ file: world.file }, (other) => expectOneState(inWorld, other, clients))
  })
}

async function expectOneState(inWorld: InWorld, other: World, clients: readonly Client[]): Promise<void> {
  const ended: Client[] = []
  for (const client of clients) {
    const there = client.copy(other.app)
    if ((await there.get('/private')).status === 200) {
      expect((await there.copy().post('/auth/refresh')).status).to.equal(200)
      await expectEnded(other, client)
    } else ended.push(client)
  }
  await expectEndedLater(inWorld, other, ended)
  for (const client of ended) await expectEnded(other, client)
}

/** A logout succeeds, and nothing succeeds after it. */
async function expectEnded(other: World, client: Client): Promise<void> {
  expect((await client.copy(other.app).post('/auth/logout')).status).to.equal(204)
  for (let time = 0; time < 2; time++) {
    expect((await client.copy(other.app).get('/private')).status).to.equal(401)
    expect((await client.copy(other.app).post('/auth/refresh')).status).to.equal(401)
  }
}

/** The rows of the sessions may be there still, when no process remembers their ends any more. */
async function expectEndedLater(inWorld: InWorld, other: World, ended: readonly Client[]): Promise<void> {
  await other.storage.forgetEnds()
  await inWorld({ file: other.file }, async (later) => {
    later.clock.advance(LATER)
    // A clean-up must not forget the end either.
    await later.client().post('/auth/signup', { ...ADA, email: 'bob@example.com' })
    await settle(later)
    for (const client of ended)
      expect((await client.copy(later.app).post('/auth/refresh')).status).to.equal(401)
  })
}

onEachStore('A process with all features that ends in the middle of', (inWorld) => {
  for (const way of Object.keys(WAYS))
    it(`${way}, before any of its statements, leaves the session alive or ended everywhere`, async () => {
      const { mails, ...options } = withEndings()
      await inWorld(options, async (world) => {
        const scene = await EndingScene.of([world], mails)
        const victims: Victim[] = []
        for (let reached = true; reached;) {
          const victim = await scene.newVictim()
          const end = await scene.prepare(0, way, victim)
          const crash = world.storage.interruptions.failFrom(victims.push(victim))
          await scene.schedule.run(end())
          await settle(world)
          reached = crash.reached()
          crash.restore()
        }
        expect(victims.length).to.be.at.least(3)
        // A process that starts now knows what was published, and nothing else.
        await inWorld({ ...options, file: world.file }, async (later) => {
          const alive = await Promise.all(victims.map((victim) => isAliveIn(later, victim)))
          expect(alive[0]).to.equal(true)
        })
      })
    })
})

/** An access token and a refresh token are alive or over together. @returns true for alive. */
async function isAliveIn(world: World, { accessToken, refreshToken }: Victim): Promise<boolean> {
  const client = world.client()
  client.accessToken = accessToken
  const caller = { id: 'request', ip: '192.0.2.1', set: () => undefined }
  const refreshed = flowsOf(world)
    .refresh(refreshToken, caller)
    .then(
      () => 200,
      ({ status }) => status as number,
    )
  const statuses = [(await client.get('/private')).status, await refreshed]
  expect(statuses).to.be.deep.oneOf([
    [200, 200],
    [401, 401],
  ])
  return statuses[0] === 200
}
