import { expect } from 'chai'
import type { AuthParts } from '../../../../plugins/auth/flows/parts.ts'
import { createEndedSessions } from '../../../../plugins/auth/sessions/ended-sessions.ts'
import { createFreshSessions } from '../../../../plugins/auth/sessions/fresh-session.ts'

const CLAIMS = { sid: 'session-1', sub: 'ada', iat: 0, exp: 0 } as never

interface Scene {
  readonly isUnknown: boolean
  readonly hasEnded: () => Promise<boolean>
  /** Sessions that end before; the capacity of the list is 1. */
  readonly ends?: readonly string[]
}

function fresh({ isUnknown, hasEnded, ends = [] }: Scene) {
  const endedSessions = createEndedSessions({ lifetime: 900, store: { hasEnded }, capacity: 1 })
  for (const sid of ends) endedSessions.end(sid)
  const parts = { endedSessions, store: { hasEnded } } as unknown as AuthParts
  const findOwner = async () => ({ id: 'ada', raw: { id: 'ada' } }) as never
  return createFreshSessions(parts, { findOwner }, { isUnknown: () => isUnknown })
}

describe('freshSession', () => {
  it('asks for the record of the end as well, while the list of ended sessions is not known', async () => {
    let asked = 0
    const hasEnded = async () => ++asked > 1
    const { identify } = fresh({ isUnknown: true, hasEnded })
    expect(await identify(CLAIMS)).to.include({ id: 'ada' })
    expect(await identify(CLAIMS)).to.equal(null)
  })

  it('asks for the record as well, while the list is incomplete', async () => {
    const { identify } = fresh({ isUnknown: false, hasEnded: async () => true, ends: ['one', 'two'] })
    expect(await identify(CLAIMS)).to.equal(null)
  })

  it('asks for the session alone, while the list is known', async () => {
    const hasEnded = () => Promise.reject(new Error('not asked'))
    expect(await fresh({ isUnknown: false, hasEnded }).identify(CLAIMS)).to.include({ id: 'ada' })
  })

  it('fails when the record cannot be read', async () => {
    const { identify } = fresh({ isUnknown: true, hasEnded: () => Promise.reject(new Error('away')) })
    expect(await identify(CLAIMS).catch(({ message }: Error) => message)).to.equal('away')
  })
})
