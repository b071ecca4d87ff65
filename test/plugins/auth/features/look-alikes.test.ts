import { expect } from 'chai'
import { onEachDatabase } from '../support/on-each-store.ts'
import { ADA, PASSWORD } from '../support/world.ts'
import { EVE, logIn, withVerification } from './verification-scene.ts'

const OWNED = 'victim@bücher.example'

/** Spellings of an address: those of one mailbox, of another one, and of none. */
const SPELLINGS = {
  same: [
    'VICTIM@bücher.example',
    'victim@xn--bcher-kva.example',
    'victim@XN--BCHER-KVA.EXAMPLE',
    'victim@bu\u0308cher.example',
    'victim@\uFF42ücher.example',
    ' victim@bücher.example ',
  ],
  other: [
    'victim@bucher.example',
    'victim@buecher.example',
    'v\u0456ctim@bücher.example',
    'v\u00EDctim@bücher.example',
    'vict\u0131m@bücher.example',
    '\uFF56ictim@bücher.example',
    'victim+x@bücher.example',
    'v.ictim@bücher.example',
  ],
  none: [
    'victim@bücher.example.',
    'victim.@bücher.example',
    'victim@bücher\u3002example',
    'victim\u200B@bücher.example',
    'victim\u3164@bücher.example',
    'victim@bü\u200Dcher.example',
  ],
}

/** Statuses of a change of the address, a signup and a login of the owner. */
const STATUSES = { same: [202, 409, 200], other: [202, 201, 401], none: [422, 422, 422] }

onEachDatabase('An address that looks like one of an account', (inWorld) => {
  for (const kind of ['same', 'other', 'none'] as const)
    it(`is of ${kind === 'none' ? 'no' : `the ${kind}`} mailbox for a change, a signup and a login`, () =>
      withVerification(inWorld, async (scene) => {
        await scene.client().post('/auth/signup', { ...ADA, email: OWNED })
        const thief = scene.client()
        await thief.post('/auth/signup', EVE)
        for (const email of SPELLINGS[kind]) {
          await scene.kinds()
          scene.sent.length = 0
          const change = await thief.post('/auth/change-email', { email })
          const kinds = await scene.kinds()
          expect(kinds.some((each) => each.startsWith('change-email'))).to.equal(kind === 'other')
          const signup = await scene.client().post('/auth/signup', { ...EVE, email })
          const login = await logIn(scene, email, PASSWORD)
          expect([change.status, signup.status, login.status], email).to.deep.equal(STATUSES[kind])
        }
      }))
})
