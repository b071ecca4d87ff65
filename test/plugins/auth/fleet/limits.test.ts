import { expect } from 'chai'
import { KINDS } from '../../database/databases.ts'
import { serverUrl } from '../../../support/servers.ts'
import { openFleet, type Fleet } from './fleet.ts'

const ROUNDS = Number(process.env['TEST_RACE_ROUNDS'] ?? 1)

/** Sends 200 concurrent wrong passwords for one address from new networks. @returns the count of each status. */
async function storm(fleet: Fleet, email: string, number: number): Promise<Record<number, number>> {
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      fleet.post(
        n,
        '/auth/login',
        { email, password: 'wrong password' },
        { 'x-forwarded-for': `10.${number}.${n}.7` },
      ),
    ),
  )
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const hashesOf = async (fleet: Fleet): Promise<number> =>
  (await fleet.all<number>('/hashes')).reduce((sum, each) => sum + each, 0)

function stormTest(
  place: () => Parameters<typeof openFleet>[0],
  size: number,
  redis: () => { redis?: string },
) {
  it('lets exactly 100 of 200 wrong passwords reach argon2, for a known and an unknown address', async () => {
    const fleet = await openFleet(place(), size, { limited: true, ...redis() })
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const known = `known${round}.${process.hrtime.bigint()}@example.com`
        const user = { name: 'Ada', email: known, password: 'the right password' }
        const signup = await fleet.post(0, '/auth/signup', user, { 'x-forwarded-for': `192.0.2.${round}` })
        expect(signup.status).to.equal(201)
        for (const [index, email] of [known, `un${known}`].entries()) {
          const before = await hashesOf(fleet)
          expect(await storm(fleet, email, 2 * round + index)).to.deep.equal({ 401: 100, 429: 100 })
          expect((await hashesOf(fleet)) - before).to.equal(100)
        }
      }
    } finally {
      await fleet.stop()
    }
  }).timeout(180_000 + ROUNDS * 5000)
}

describe('the login limit of one process', () => {
  stormTest(KINDS['SQLite']!(), 1, () => ({}))
})

describe('the login limit of three processes with Redis', () => {
  const redis = serverUrl('TEST_REDIS_URL')
  stormTest(KINDS['SQLite']!(), 3, () => ({ redis }))
})
