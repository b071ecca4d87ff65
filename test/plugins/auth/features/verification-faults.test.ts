import { expect } from 'chai'
import type { Answer, Client } from '../support/client.ts'
import { onEachStore } from '../support/on-each-store.ts'
import { ADA, PASSWORD, settle, type InWorld } from '../support/world.ts'
import {
  logIn,
  NEW,
  stored,
  VERIFY,
  withChange,
  withLink,
  withVerification,
  type Scene,
} from './verification-scene.ts'

interface Request {
  readonly token: string
  readonly client: Client
}

/** Redeems a link once for each of its statements, which fails in turn: alone, or as the last one of the process. */
async function sweep(
  inWorld: InWorld,
  prepare: (scene: Scene) => Promise<Request>,
  check: (scene: Scene, request: Request, answer: Answer) => Promise<void>,
  fault: 'failAt' | 'failFrom' = 'failAt',
): Promise<number> {
  for (let statement = 1; ; statement++) {
    let reached = true
    await withVerification(inWorld, async (scene) => {
      const request = await prepare(scene)
      await settle(scene)
      const failing = scene.storage.interruptions[fault](statement)
      const answer = await scene.client().post(VERIFY, { token: request.token, password: PASSWORD })
      failing.restore()
      reached = failing.reached()
      if (reached) await check(scene, request, answer)
    })
    if (!reached) return statement - 1
  }
}

onEachStore('A failure between any two statements', (inWorld) => {
  it('of a proof leaves a link that works, or an address that is proven', async () => {
    const count = await sweep(inWorld, withLink, async (scene, { token }, { status }) => {
      const isProven = (await stored(scene)).email_verified_at !== null
      if (!isProven) expect(status).to.be.oneOf([500, 503])
      const again = await scene.client().post(VERIFY, { token, password: PASSWORD })
      expect(again.status).to.equal(isProven ? 401 : 200)
    })
    expect(count).to.be.at.least(5)
  })

  it('of a change leaves the old address with a link that works, or the new one and no session', async () => {
    const count = await sweep(inWorld, withChange, async (scene, { token, client }) => {
      const isChanged = (await stored(scene, NEW)) !== undefined
      expect((await stored(scene)) === undefined).to.equal(isChanged)
      if (isChanged) {
        expect((await client.get('/private')).status).to.equal(401)
        expect((await client.post('/auth/refresh')).status).to.equal(401)
      } else {
        const again = await scene.client().post(VERIFY, { token, password: PASSWORD })
        expect(again.status).to.equal(200)
      }
    })
    expect(count).to.be.at.least(7)
  })

  it('of the last process that knows about it leaves an account with one address, and its owner gets in', async () => {
    await sweep(
      inWorld,
      withChange,
      async (scene, { client }) => {
        const isChanged = (await stored(scene, NEW)) !== undefined
        const [old, next] = [await logIn(scene, ADA.email), await logIn(scene, NEW)]
        expect([old.status, next.status]).to.deep.equal(isChanged ? [401, 200] : [200, 401])
        if (!isChanged) return
        expect((await client.get('/private')).status).to.equal(401)
        expect((await client.post('/auth/refresh')).status).to.equal(401)
      },
      'failFrom',
    )
  })

  it('of a request for a link is reported for each address alike', () =>
    withVerification(inWorld, async (scene) => {
      await withLink(scene)
      await settle(scene)
      for (const email of [ADA.email, 'eve@example.com']) {
        const failing = scene.storage.interruptions.failAt(1)
        const { status } = await scene.client().post(`${VERIFY}/resend`, { email })
        failing.restore()
        await settle(scene)
        expect(status, email).to.equal(500)
      }
    }))

  it('of a signup that shows no account is reported before anything is promised', () =>
    withVerification(
      inWorld,
      async (scene) => {
        const failing = scene.storage.interruptions.failAt(1)
        const { status } = await scene.client().post('/auth/signup', ADA)
        failing.restore()
        await settle(scene)
        expect([status, await scene.kinds()]).to.deep.equal([500, []])
      },
      { feature: { uniformSignup: true } },
    ))

  it('of a statement whose reply is lost reports the change that has happened', () =>
    withVerification(inWorld, async (scene) => {
      const { token } = await withChange(scene)
      scene.storage.interruptions.afterwards('update users', () =>
        Promise.reject(new Error('connection lost')),
      )
      expect((await scene.client().post(VERIFY, { token, password: PASSWORD })).status).to.equal(200)
      expect(await stored(scene, NEW)).to.not.equal(undefined)
    }))
})
