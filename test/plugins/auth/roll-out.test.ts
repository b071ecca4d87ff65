import { expect } from 'chai'
import type { Client } from './support/client.ts'
import { onEachStore } from './support/on-each-store.ts'
import { SECRET, signedUp, type InWorld, type World } from './support/world.ts'

const NEWER = 'a newer secret, long enough to be one, of the tests'

/** Two processes on one database and by one clock: the first has the secrets of before, the second those of after. */
function duringRollOut(
  inWorld: InWorld,
  before: readonly string[],
  after: readonly string[],
  body: (old: World, young: World) => Promise<unknown>,
) {
  return inWorld({ file: true, auth: { secret: before } }, (old) =>
    inWorld({ file: old.file, auth: { secret: after }, app: { clock: old.clock } }, (young) =>
      body(old, young),
    ),
  )
}

function elsewhere(world: World, client: Client): Client {
  const other = world.client()
  for (const [name, value] of client.cookies) other.cookies.set(name, value)
  if (client.accessToken) other.accessToken = client.accessToken
  return other
}

onEachStore('a new secret, process by process', (inWorld) => {
  it('that all know before one signs with it signs nobody out and refuses no token', () =>
    duringRollOut(inWorld, [SECRET, NEWER], [NEWER, SECRET], async (old, young) => {
      const client = elsewhere(young, await signedUp(old))
      const tabs = [client, elsewhere(old, client), elsewhere(young, client), elsewhere(old, client)]
      for (const tab of tabs) expect((await tab.post('/auth/refresh')).status).to.equal(200)
      expect(new Set(tabs.map(({ refreshToken }) => refreshToken)).size).to.equal(1)
      for (const tab of tabs) expect((await elsewhere(old, tab).get('/private')).status).to.equal(200)
    }))

  it('that an old process does not know makes it ask the predecessor to come again, and ends nothing', () =>
    duringRollOut(inWorld, [SECRET], [NEWER, SECRET], async (old, young) => {
      const signed = await signedUp(old)
      const [first, second] = [elsewhere(young, signed), elsewhere(old, signed)]
      expect((await first.post('/auth/refresh')).status).to.equal(200)
      const answer = await second.post('/auth/refresh')
      expect([answer.status, answer.setCookie, answer.headers['retry-after']]).to.deep.equal([
        503,
        undefined,
        '1',
      ])
      expect(old.typesOf()).to.deep.equal(['auth.signup.succeeded', 'auth.token.refused'])
      // The tab has the other's cookie by then, as they share a jar; and the process need not know who made it.
      expect((await elsewhere(old, first).post('/auth/refresh')).status).to.equal(200)
    }))

  it('that an old process does not know saves no predecessor after the grace time', () =>
    duringRollOut(inWorld, [SECRET], [NEWER, SECRET], async (old, young) => {
      const signed = await signedUp(old)
      const first = elsewhere(young, signed)
      await first.post('/auth/refresh')
      old.clock.advance(11)
      expect((await elsewhere(old, signed).post('/auth/refresh')).status).to.equal(401)
      expect((await first.post('/auth/refresh')).status).to.equal(401)
    }))
})

onEachStore('a secret that is replaced in all processes together', (inWorld) => {
  it('makes every access token worthless and ends no session', () =>
    duringRollOut(inWorld, [SECRET], [NEWER], async (old, young) => {
      const client = elsewhere(young, await signedUp(old))
      expect((await client.get('/private')).status).to.equal(401)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      expect((await client.get('/private')).status).to.equal(200)
    }))
})

onEachStore('a clock that is set back by an hour', (inWorld) => {
  it('gives a predecessor no longer grace', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const copy = client.copy()
      await client.post('/auth/refresh')
      world.clock.advance(-3600)
      expect((await copy.post('/auth/refresh')).status).to.equal(401)
    }))

  it('costs a client one refresh', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      world.clock.advance(-3600)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      expect((await client.get('/private')).status).to.equal(200)
    }))
})
