import { once } from 'node:events'
import { connect } from 'node:net'
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
  })
})
