import { expect } from 'chai'
import { userOf } from '../../../../plugins/auth/accounts/signed-in-user.ts'

/** The member `email_verified_at` of a token or a row. Tokens of another version may lack it. */
const MOMENTS: readonly (readonly [raw: object, isVerified: boolean])[] = [
  [{}, false],
  ...[undefined, null, true, 1, new Date(0)].map((at) => [{ email_verified_at: at }, false] as const),
  [{ email_verified_at: '2026-01-02T03:04:05.678Z' }, true],
]

describe('the signed-in user of a token or a row', () => {
  for (const [raw, isVerified] of MOMENTS)
    for (const [form, more] of Object.entries({
      'of a session': { session: { id: 's', signedInAt: 0 } },
      'without a session': {},
    }))
      it(`has ${isVerified ? 'a' : 'no'} proven address ${form}: ${JSON.stringify(raw)}`, () => {
        const user = { name: 'Ada', email: 'ada@example.com', ...raw }
        expect(userOf({ sub: 'ada', user, ...more } as never).emailVerified).to.equal(isVerified)
      })
})
