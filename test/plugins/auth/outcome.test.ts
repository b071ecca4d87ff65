import { expect } from 'chai'
import { DatabaseUnavailable } from '../../../plugins/auth/errors.ts'
import { type FlowName, withFailureEvent } from '../../../plugins/auth/flows/outcome.ts'
import type { AuthParts } from '../../../plugins/auth/flows/parts.ts'

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
})
