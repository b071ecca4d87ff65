import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter } from 'mortar'
import { defineSocket, realtime } from '@mortar/realtime'
import { connect } from '@mortar/realtime/testing'
import { throughBothAdapters } from '../../support/adapters.ts'
import { createSessions } from '../../support/session-brick.ts'

const MANY = 300

describe('Many sockets', () => {
  throughBothAdapters((open) => {
    async function serve() {
      const sessions = createSessions()
      let aborted = 0
      const route = defineSocket({ auth: true }, async ({ signal }, socket) => {
        signal.addEventListener('abort', () => aborted++)
        for await (const _message of socket);
      })
      const app = createApp({ logger: false, environment: 'test' })
        .use(sessions.brick)
        .use(realtime({ socketsPerClient: MANY }))
        .use(createRouter().get('/', route))
      await open(app)
      const sockets = await Promise.all(
        Array.from({ length: MANY }, () => connect(app, '/', { token: 'ada' })),
      )
      return { app, sessions, sockets, aborted: () => aborted }
    }

    it('end with their sessions over many turns of the event loop', async () => {
      const { sessions, sockets, aborted } = await serve()
      sessions.end()
      const most = await mostInOneTurn(aborted)
      expect(most).to.be.within(2, 128)
      const ends = await Promise.all(sockets.map(({ closed }) => closed))
      expect(new Set(ends.map(({ code }) => code))).to.deep.equal(new Set([4401]))
    })

    it('end with 1001 when the application closes, over many turns of the event loop', async () => {
      const { app, sockets, aborted } = await serve()
      const closing = app.close()
      const most = await mostInOneTurn(aborted, 40)
      expect(most).to.be.within(2, 128)
      const ends = await Promise.all(sockets.map(({ closed }) => closed))
      expect(new Set(ends.map(({ code }) => code))).to.deep.equal(new Set([1001]))
      await closing
    })
  })
})

/** Follows a counter up to its end, with other work of `busy` milliseconds in each turn. */
async function mostInOneTurn(count: () => number, busy = 0): Promise<number> {
  let most = 0
  for (let before = 0; before < MANY;) {
    const now = count()
    most = Math.max(most, now - before)
    before = now
    for (const begun = performance.now(); performance.now() - begun < busy;);
    await nextTurn()
  }
  return most
}
