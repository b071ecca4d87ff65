import { expect } from 'chai'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import type { Answer } from './support/client.ts'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, CHEAP, eventually, PASSWORD, resetTokenFor, signedUp, type World } from './support/world.ts'

const NEXT = 'another horse battery'

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

function counts(answers: readonly Answer[]): Record<number, number> {
  const found: Record<number, number> = {}
  for (const { status } of answers) found[status] = (found[status] ?? 0) + 1
  return found
}

const sessions = (world: World): Promise<{ id: string }[]> => world.storage.sessions()

onEachStore('races of the auth flows, on a database file', (inWorld) => {
  for (const limited of [false, true])
    it(`gives 64 refreshes with one cookie the same successor${limited ? ', within the limits' : ''}`, () =>
      inWorld({ file: true, limited }, async (world) => {
        const client = await signedUp(world)
        const tabs = times(64, () => client.copy())
        expect(counts(await Promise.all(tabs.map((tab) => tab.post('/auth/refresh'))))).to.deep.equal({
          200: 64,
        })
        expect(new Set(tabs.map((tab) => tab.refreshToken)).size).to.equal(1)
        expect((await tabs[0]!.post('/auth/refresh')).status).to.equal(200)
        expect(await sessions(world)).to.have.length(1)
      }))

  it('counts 64 refreshes that begin in one turn as one', () =>
    inWorld({ file: true, limited: true }, async (world) => {
      const { refreshToken = null } = await signedUp(world)
      const { flows } = (world.app.services as { authProvider: ConnectedPasswordProvider }).authProvider
      const caller = { id: 'request', ip: '192.0.2.1', set: () => {} }
      const grants = await Promise.all(times(64, () => flows.refresh(refreshToken, caller)))
      expect(new Set(grants.map((grant) => grant.refreshToken)).size).to.equal(1)
    }))

  it('gives 64 refreshes through two processes the same successor', () =>
    inWorld({ file: true }, (one) =>
      inWorld({ file: one.file }, async (two) => {
        const client = await signedUp(one)
        const tabs = times(64, (index) => {
          const tab = (index % 2 ? one : two).client()
          tab.cookies.set('mortar_refresh', client.refreshToken!)
          return tab
        })
        expect(counts(await Promise.all(tabs.map((tab) => tab.post('/auth/refresh'))))).to.deep.equal({
          200: 64,
        })
        expect(new Set(tabs.map((tab) => tab.refreshToken)).size).to.equal(1)
      }),
    ))

  it('lets one of 32 redemptions of a reset token win, with its password', () =>
    inWorld({ file: true }, async (world) => {
      const client = await signedUp(world)
      const token = await resetTokenFor(world)
      const answers = await Promise.all(
        times(32, (n) => world.client().post('/auth/reset-password', { token, password: `${NEXT} ${n}` })),
      )
      expect(counts(answers)).to.deep.equal({ 200: 1, 401: 31 })
      const winner = answers.findIndex(({ status }) => status === 200)
      const logins = await Promise.all(
        times(32, (n) => world.client().post('/auth/login', { ...ADA, password: `${NEXT} ${n}` })),
      )
      expect(logins.map(({ status }) => status)).to.deep.equal(times(32, (n) => (n === winner ? 200 : 401)))
      expect((await client.post('/auth/refresh')).status).to.equal(401)
    }))

  it('lets one of 32 signups of an address in different spellings win', () =>
    inWorld({ file: true }, async (world) => {
      const spellings = [
        'zoë@example.com',
        'ZOË@Example.COM',
        ' zoe\u0308@example.com ',
        'Zoe\u0308@EXAMPLE.com',
      ]
      const answers = await Promise.all(
        times(32, (n) => world.client().post('/auth/signup', { ...ADA, email: spellings[n % 4] })),
      )
      expect(counts(answers)).to.deep.equal({ 201: 1, 409: 31 })
      expect((await world.storage.users()).map(({ email }) => email)).to.deep.equal(['zoë@example.com'])
      expect(await sessions(world)).to.have.length(1)
    }))

  it('lets exactly 10 of 200 wrong logins of an address reach the hash', () =>
    inWorld({ file: true, limited: true }, async (world) => {
      await signedUp(world)
      const wrong = { email: ADA.email, password: NEXT }
      const answers = await Promise.all(times(200, () => world.client().post('/auth/login', wrong)))
      expect(counts(answers)).to.deep.equal({ 401: 10, 429: 190 })
    }))

  it('leaves no session behind when a logout and refreshes come together', () =>
    inWorld({ file: true }, async (world) => {
      const client = await signedUp(world)
      const tabs = times(32, () => client.copy())
      const refreshes = tabs.map((tab) => tab.post('/auth/refresh'))
      const logout = client.copy().post('/auth/logout')
      expect((await logout).status).to.equal(204)
      for (const { status } of await Promise.all(refreshes)) expect(status).to.be.oneOf([200, 401])
      expect(await sessions(world)).to.deep.equal([])
      for (const tab of tabs) {
        expect((await tab.post('/auth/refresh')).status).to.equal(401)
        if (tab.accessToken) expect((await tab.get('/private')).status).to.equal(401)
      }
    }))

  it('lets one of 16 changes of a password win', () =>
    inWorld({ file: true }, async (world) => {
      const clients = [await signedUp(world)]
      for (let count = 1; count < 16; count++) {
        clients.push(world.client())
        await clients[count]!.post('/auth/login', ADA)
      }
      const answers = await Promise.all(
        clients.map((client, n) =>
          client.post('/auth/change-password', { current: PASSWORD, next: `${NEXT} ${n}` }),
        ),
      )
      expect(counts(answers), answers.map(({ text }) => text).join('\n')).to.deep.equal({ 200: 1, 401: 15 })
      const winner = answers.findIndex(({ status }) => status === 200)
      expect(
        (await world.client().post('/auth/login', { ...ADA, password: `${NEXT} ${winner}` })).status,
      ).to.equal(200)
      const refreshed = await Promise.all(clients.map((client) => client.post('/auth/refresh')))
      expect(refreshed.map(({ status }) => status)).to.deep.equal(
        times(16, (n) => (n === winner ? 200 : 401)),
      )
    }))

  it('gives the changer of a password a new session, whatever other tabs refresh meanwhile', () =>
    inWorld({ file: true }, async (world) => {
      const [client, other] = [await signedUp(world), world.client()]
      await other.post('/auth/login', ADA)
      const tabs = times(32, () => client.copy())
      const [change, ...refreshes] = await Promise.all([
        client.post('/auth/change-password', { current: PASSWORD, next: NEXT }),
        ...tabs.map((tab) => tab.post('/auth/refresh')),
      ])
      expect(change.status).to.equal(200)
      expect(refreshes.every(({ status }) => status === 200 || status === 401)).to.equal(true)
      for (const tab of tabs) expect((await tab.post('/auth/refresh')).status).to.equal(401)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      expect((await other.post('/auth/refresh')).status).to.equal(401)
    }))

  it('never overwrites a reset password with a renewed hash of the old one', () =>
    inWorld({ file: true }, async (early) => {
      await signedUp(early)
      await inWorld({ file: early.file, auth: { cost: { ...CHEAP, memory: 128 } } }, async (world) => {
        const token = await resetTokenFor(world)
        const logins = times(16, () => world.client().post('/auth/login', ADA))
        const reset = world.client().post('/auth/reset-password', { token, password: NEXT })
        await Promise.all([...logins, reset])
        expect((await reset).status).to.equal(200)
        expect((await world.client().post('/auth/login', ADA)).status).to.equal(401)
        expect((await world.client().post('/auth/login', { ...ADA, password: NEXT })).status).to.equal(200)
        expect(await sessions(world)).to.have.length(1)
      })
    }))

  it('leaves at most 32 tokens after 50 requests for a reset', () =>
    inWorld({ file: true }, async (world) => {
      await signedUp(world)
      const ask = () => world.client().post('/auth/forgot-password', { email: ADA.email })
      expect(counts(await Promise.all(times(50, ask)))).to.deep.equal({ 200: 50 })
      await eventually(() => world.mails.length === 50)
      expect(await world.storage.resetTokens()).to.have.length(32)
    }))

  it('refuses a refresh that comes after a logout elsewhere, although one from before is under way', () =>
    inWorld({ file: true }, (one) =>
      inWorld({ file: one.file }, async (two) => {
        const client = await signedUp(one)
        const { refreshToken = null } = client
        const { flows } = (two.app.services as { authProvider: ConnectedPasswordProvider }).authProvider
        const caller = { id: 'request', ip: '192.0.2.1', set: () => {} }
        const refresh = () =>
          flows.refresh(refreshToken, caller).then(
            () => 200,
            ({ status }) => Number(status),
          )
        let late: Promise<number> | undefined
        two.storage.interruptions.afterwards('update sessions', async () => {
          expect((await client.post('/auth/logout')).status).to.equal(204)
          late = refresh()
        })
        await refresh()
        expect(await late).to.equal(401)
      }),
    ))
})
