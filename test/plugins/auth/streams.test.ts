import { once } from 'node:events'
import { expect } from 'chai'
import { createRouter, sse, type AnyBrick } from 'mortar'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, eventually, PASSWORD, resetTokenFor, signedUp, type World } from './support/world.ts'
import type { Client } from './support/client.ts'

let begun = 0
const NEXT = 'another horse battery'
const bricks = [
  {
    name: 'events',
    routes: [
      createRouter().get('/events', { auth: true }, (ctx) =>
        sse(ctx, async function* ({ signal }) {
          begun += 1
          yield 'first'
          await once(signal, 'abort')
        }),
      ),
    ],
  },
] as unknown as readonly AnyBrick[]

/** Everything that ends the session of a client, in the process of a world. */
const WAYS: Readonly<Record<string, (world: World, client: Client) => Promise<unknown>>> = {
  'a logout': (_world, client) => client.post('/auth/logout'),
  'a new password': (_world, client) =>
    client.post('/auth/change-password', { current: PASSWORD, next: NEXT }),
  'a reset by mail': async (world) =>
    world.client().post('/auth/reset-password', { token: await resetTokenFor(world), password: NEXT }),
  signOut: async (world) => providerOf(world).signOut(await idOf(world)),
  'a disabled account': async (world) => providerOf(world).disable(await idOf(world)),
}

const providerOf = ({ app }: World) =>
  (app.services as { authProvider: ConnectedPasswordProvider }).authProvider
const idOf = async ({ storage }: World): Promise<string> => String((await storage.users())[0].id)

onEachStore('An event stream', (inWorld) => {
  for (const [way, end] of Object.entries(WAYS))
    it(`ends in every process with ${way}`, () =>
      inWorld({ file: true, bricks }, (one) =>
        inWorld({ file: one.file, bricks }, async (two) => {
          const [client, other] = [await signedUp(one), one.client()]
          await other.post('/auth/signup', { ...ADA, email: 'bob@example.com' })
          const before = begun
          const streams = [one, two].map((world) => client.copy(world.app).get('/events'))
          let isOver = false
          void other
            .copy(two.app)
            .get('/events')
            .finally(() => (isOver = true))
          await eventually(() => begun === before + 3)
          await end(one, client)
          for (const { status, text } of await Promise.all(streams)) {
            expect([status, text]).to.deep.equal([200, 'data: first\n\n'])
          }
          expect(isOver).to.equal(false)
        }),
      ))
})
