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

/** The flows that end sessions, each as a request that a process may not survive. */
const FLOWS: Readonly<Record<string, (parts: Prepared) => Promise<unknown>>> = {
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
      let statements = 0
      for (let reached = true; reached; statements++) reached = await crashAt(inWorld, flow, statements + 1)
      expect(statements).to.be.at.least(3)
    })
})

/** Crashes a process before the nth statement of a flow. @returns false if the flow has fewer statements. */
async function crashAt(
  inWorld: InWorld,
  flow: (parts: Prepared) => Promise<unknown>,
  statement: number,
): Promise<boolean> {
  let reached = false
  await inWorld({ file: true }, async (world) => {
    const client = await signedUp(world)
    const parts = { world, client, id: '', token: '' }
    parts.id = (await client.get('/auth/me')).body.id
    parts.token = await resetTokenFor(world)
    await settle(world)
    const crash = world.storage.interruptions.failFrom(statement)
    await flow(parts).catch(() => undefined)
    await settle(world)
    reached = crash.reached()
    crash.restore()
    // The process never comes back: only others are asked.
    await inWorld({ file: world.file }, (other) => expectOneState(inWorld, other, client))
  })
  return reached
}

async function expectOneState(inWorld: InWorld, other: World, client: Client): Promise<void> {
  const there = client.copy(other.app)
  const isAlive = (await there.get('/private')).status === 200
  if (isAlive) {
    expect((await there.copy().post('/auth/refresh')).status).to.equal(200)
    expect((await there.copy().post('/auth/logout')).status).to.equal(204)
  } else {
    await expectEndedLater(inWorld, other, client)
    expect((await there.copy().post('/auth/logout')).status).to.equal(204)
  }
  for (let time = 0; time < 2; time++) {
    expect((await client.copy(other.app).get('/private')).status).to.equal(401)
    expect((await client.copy(other.app).post('/auth/refresh')).status).to.equal(401)
  }
}

/** The row of the session may be there still, when no process remembers its end any more. */
async function expectEndedLater(inWorld: InWorld, other: World, client: Client): Promise<void> {
  await other.storage.forgetEnds()
  await inWorld({ file: other.file }, async (later) => {
    later.clock.advance(LATER)
    // A clean-up must not forget the end either.
    await later.client().post('/auth/signup', { ...ADA, email: 'bob@example.com' })
    await settle(later)
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
