import { expect } from 'chai'
import { DatabaseUnavailable } from '../../../plugins/auth/errors.ts'
import { type FlowName, withFailureEvent } from '../../../plugins/auth/flows/outcome.ts'
import type { AuthParts } from '../../../plugins/auth/flows/parts.ts'
import { ADA, inWorld, PASSWORD, signedUp } from './support/world.ts'

describe('A flow that fails', () => {
  /** The events of one attempt. */
  async function eventsOf(flow: FlowName, error: Error): Promise<readonly string[]> {
    const types: string[] = []
    const events = { emit: (type: string) => void types.push(type) } as unknown as AuthParts['events']
    const attempt = { flow, known: {}, caller: { ip: '192.0.2.1', requestId: 'r' } as never }
    const thrown = await withFailureEvent({ events }, attempt, () => Promise.reject(error)).catch(
      (caught: unknown) => caught,
    )
    expect(thrown).to.equal(error)
    return types
  }

  for (const flow of ['refresh', 'login', 'logout'] as const)
    it(`has no event while the database is away, and one for any other failure: ${flow}`, async () => {
      expect(await eventsOf(flow, new DatabaseUnavailable(new Error('ECONNREFUSED')))).to.deep.equal([])
      expect((await eventsOf(flow, new Error('A mistake.'))).length).to.equal(1)
    })

  for (const message of [
    'Connection terminated unexpectedly',
    'The database connection was silent for 4 s and was closed.',
    'No database connection became free within 10 s.',
  ])
    it(`has no event if a statement meets a database that is away: ${message}`, () =>
      inWorld({}, async (world) => {
        const client = await signedUp(world)
        world.events.length = 0
        world.storage.interruptions.gate = () => Promise.reject(new Error(message))
        const change = { current: PASSWORD, next: 'another horse battery' }
        const requests = [
          ['login', ADA],
          ['refresh', {}],
          ['logout', {}],
          ['change-password', change],
        ] as const
        for (const [path, body] of requests)
          expect((await client.post(`/auth/${path}`, body)).status, path).to.equal(503)
        expect(world.events).to.deep.equal([])
      }))
})
