import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'chai'
import { createApp, createRouter, sse } from 'mortar'
import { throughBothAdapters } from '../support/adapters.ts'

describe('The stop of an application', () => {
  throughBothAdapters((open) => {
    it('does not wait for a client that reads no events', async () => {
      // With a deadline that outlasts the test.
      const app = createApp({ logger: false, shutdownTimeout: '1h' }).use(
        createRouter().get('/', (ctx) =>
          sse(ctx, async function* () {
            // More than the buffers of a connection.
            yield 'x'.repeat(20_000_000)
            await new Promise(() => {})
          }),
        ),
      )
      const { url } = await open(app)
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
      try {
        await once(socket, 'readable')
        await app.close()
      } finally {
        socket.destroy()
      }
    })

    it('ends a stream of which only the route declares that it is server-sent events', async () => {
      const response = { 200: { type: 'text/event-stream' } }
      const app = createApp({ logger: false, shutdownTimeout: 5 }).use(
        createRouter().get('/', { response }, async function* () {
          yield 'data: first\n\n'
          await new Promise(() => {})
        }),
      )
      const { fetch } = await open(app)
      const text = (await fetch('/')).text()
      const closing = app.close()
      expect(await text).to.equal('data: first\n\n')
      await closing
    })
  })
})
