import { EventEmitter, once } from 'node:events'
import { createServer, connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { inTime } from 'mortar/kit'

const LIMIT = 20

describe('A time limit of the auth brick', () => {
  it('does not refuse what arrived in time, although the process was busy until after the limit', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = connect((server.address() as { port: number }).port, '127.0.0.1')
    const [accepted] = (await once(server, 'connection')) as [Socket]
    try {
      const received = once(client, 'data').then(([chunk]) => String(chunk))
      const result = inTime(received, LIMIT, () => new Error('late'))
      accepted.write('here')
      blockFor(2 * LIMIT)
      expect(await result).to.equal('here')
    } finally {
      client.destroy()
      accepted.destroy()
      server.close()
    }
  })

  it('refuses what does not arrive', async () => {
    const never = once(new EventEmitter(), 'result')
    const error: unknown = await inTime(never, LIMIT, () => new Error('late')).catch(
      (reason: unknown) => reason,
    )
    expect(error).to.have.property('message', 'late')
  })
})

/** Keeps the event loop from turning. */
function blockFor(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}
