import { expect } from 'chai'
import { clientOf } from '../../../plugins/realtime/connection.ts'
import { readOptions } from '../../../plugins/realtime/options.ts'
import { Sockets } from '../../../plugins/realtime/sockets.ts'
import { keptAfter } from '../../support/collect-garbage.ts'

describe('The places of sockets', () => {
  it('are shared by the addresses of one network', () => {
    const clients = ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1'].map((ip) =>
      clientOf({ user: null, ip } as never),
    )
    expect(new Set(clients).size).to.equal(2)
  })

  it('keep nothing of a client whose last socket is closed', async () => {
    const places = new Sockets(readOptions({}), [])
    const kept = await keptAfter((client) => {
      places.enter(client)
      places.leave(client)
    })
    expect(kept).to.be.below(5e6)
  })
})
