import { expect } from 'chai'
import { createApp } from 'mortar'
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
})
