import { expect } from 'chai'
import { createApp, createRouter } from 'mortar'
import { startupErrorOf } from '../support/startup-error-of.ts'

describe('A route in code that conflicts with another one', () => {
  it('is named with the router of both, also if it was mounted twice', async () => {
    const router = createRouter({ prefix: '/a' }).get('/b', () => 1)
    for (const other of [createRouter().get('/a/b', () => 2), router]) {
      const app = createApp({ logger: false }).use(router).use(other)
      const { message, code } = await startupErrorOf(() => app.ready())
      expect(code).to.equal('MORTAR_ROUTE_DUPLICATE')
      expect(message).to.match(/^GET \/a\/b is declared twice: in router \/a and in router \/a?\./)
      expect(message).to.match(/Remove one of the two.+mount a router once per prefix/)
    }
  })
})
