import { Agent, request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { expect } from 'chai'
import { createApp, createRouter } from 'mortar'
import { leaveClients } from '../../../src/cli/workers/leave.ts'
import { deferred } from '../../support/deferred.ts'

describe('A worker that another one has replaced', () => {
  it('does not end before the primary process knows that it accepts nothing new', async () => {
    const app = createApp({ logger: false })
    const { server } = await app.listen(0, '127.0.0.1')
    const asked = deferred()
    const known = deferred()
    let hasLeft = false
    const leaving = leaveClients(server, () => {
      asked.resolve()
      return known.promise
    }).then(() => (hasLeft = true))
    await asked.promise
    await new Promise(setImmediate)
    expect([server.listening, hasLeft]).to.deep.equal([false, false])
    known.resolve()
    await leaving
    await app.close()
  })

  it('ends without the reply of the primary process when its time is over', async () => {
    const app = createApp({ logger: false })
    const { server } = await app.listen(0, '127.0.0.1')
    await leaveClients(server, () => deferred().promise, 1)
    expect(server.listening).to.equal(false)
    await app.close()
  })

  it('closes a connection that is kept alive with its next response', async () => {
    const app = createApp({ logger: false }).use(createRouter().get('/', () => 'ok'))
    const { server, port } = await app.listen(0, '127.0.0.1')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const get = async (): Promise<string | undefined> => {
      const [response] = (await once(request({ port, agent }).end(), 'response')) as [IncomingMessage]
      await once(response.resume(), 'end')
      return response.headers.connection
    }
    expect(await get()).to.equal('keep-alive')
    const asked = deferred()
    const leaving = leaveClients(server, () => Promise.resolve(asked.resolve()))
    await asked.promise
    expect(await get()).to.equal('close')
    await leaving
    agent.destroy()
    await app.close()
  })
})
