import { expect } from 'chai'
import { DatabaseUnavailable } from '../../../plugins/auth/errors.ts'
import { type FlowName, withFailureEvent } from '../../../plugins/auth/flows/outcome.ts'
import type { AuthParts } from '../../../plugins/auth/flows/parts.ts'
import { UNREADABLE } from '../../support/unreadable-error.ts'
import { enrolled, WITH_TOTP } from './support/second-factor.ts'
import { ADA, inWorld, PASSWORD, signedUp } from './support/world.ts'

describe('A flow that fails', () => {
  /** The events of one attempt. */
  async function eventsOf(flow: FlowName, error: Error): Promise<readonly string[]> {
    const types: string[] = []
    const events = { emit: (type: string) => void types.push(type) } as unknown as AuthParts['events']
    const outages = {} as AuthParts['outages']
    const attempt = { flow, known: {}, caller: { ip: '192.0.2.1', requestId: 'r' } as never }
    const thrown = await withFailureEvent({ events, features: [], outages }, attempt, () =>
      Promise.reject(error),
    ).catch((caught: unknown) => caught)
    expect(thrown).to.equal(error)
    return types
  }

  for (const flow of ['refresh', 'login', 'logout'] as const)
    it(`has no event while the database is away, and one for any other failure: ${flow}`, async () => {
      expect(await eventsOf(flow, new DatabaseUnavailable(new Error('ECONNREFUSED')))).to.deep.equal([])
      expect((await eventsOf(flow, new Error('A mistake.'))).length).to.equal(1)
      expect((await eventsOf(flow, UNREADABLE)).length).to.equal(1)
    })

  it('logs the error that a rule of the application has thrown, even one that cannot be read', () => {
    const lines: unknown[] = []
    const write = (line: unknown): void => void lines.push(line)
    const logger = { debug: () => {}, info: () => {}, warn: write, error: write, child: () => logger }
    const passwordRule = (): never => {
      throw UNREADABLE
    }
    return inWorld({ auth: { passwordRule }, app: { logger } }, async (world) => {
      expect((await world.client().post('/auth/signup', ADA)).status).to.equal(500)
      expect(world.events.map(({ type, event }) => [type, event['reason']])).to.deep.equal([
        ['auth.signup.failed', 'error'],
      ])
      const errors = lines.flatMap((line) => (line as { err?: { type: string } }).err ?? [])
      expect(errors.map(({ type }) => type)).to.deep.equal(['unknown'])
    })
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

  const AWAY = () => Promise.reject(new Error('Connection terminated unexpectedly'))
  const change = { current: PASSWORD, next: 'another horse battery' }
  const MORE_THAN_ANY_LIMIT = 12

  it('costs no try while the database is away', () =>
    inWorld({ limited: true }, async (world) => {
      const client = await signedUp(world)
      world.storage.interruptions.gate = AWAY
      for (let count = 0; count < MORE_THAN_ANY_LIMIT; count++)
        for (const [path, body] of [['login', ADA] as const, ['change-password', change] as const])
          expect((await client.post(`/auth/${path}`, body)).status, path).to.equal(503)
      world.storage.interruptions.gate = () => undefined
      expect((await client.post('/auth/change-password', change)).status).to.equal(200)
      const answer = await world.client().post('/auth/login', { ...ADA, password: change.next })
      expect(answer.status).to.equal(200)
    }))

  it('costs no try of a code whose use could not be stored', () =>
    inWorld({ ...WITH_TOTP, limited: true }, async (world) => {
      const { client, next } = await enrolled(world)
      const body = { ...change, code: next() }
      let ofFeatures = 0
      // The first statement finds the authenticator, the second uses its code up.
      world.storage.interruptions.gate = (statement) =>
        statement === undefined && ++ofFeatures % 2 === 0 ? AWAY() : undefined
      for (let count = 0; count < MORE_THAN_ANY_LIMIT; count++)
        expect((await client.post('/auth/change-password', body)).status).to.equal(503)
      world.storage.interruptions.gate = () => undefined
      expect((await client.post('/auth/change-password', body)).status).to.equal(200)
    }))
})
