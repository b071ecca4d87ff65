import { expect } from 'chai'
import { createDeviceMarks } from '../../../../plugins/auth/limits/device-marks.ts'
import type { Client } from '../support/client.ts'
import { ADA, inWorld, PASSWORD, resetTokenFor, signedUp, type World } from '../support/world.ts'

const limited = { limited: true, app: { trustProxy: ['127.0.0.1'] } }
const NEXT = 'another horse battery'
const DEVICE = 'mortar_device'

const logIn = (client: Client, password: string, ip = '192.0.2.1', email = ADA.email) =>
  client.post('/auth/login', { email, password }, { 'x-forwarded-for': ip })

/** 101 wrong passwords, each from a network of its own: every budget of strangers is used up. */
async function attack(world: World): Promise<void> {
  for (let n = 0; n < 101; n++) await logIn(world.client(), NEXT, `198.51.100.${n}`)
}

function withDevice(world: World, value: string): Client {
  const client = world.client()
  client.cookies.set(DEVICE, value)
  return client
}

describe('the device cookie', () => {
  it('lets the owner in during an attack, also after a logout, and nobody without it', () =>
    inWorld(limited, async (world) => {
      const owner = await signedUp(world)
      await owner.post('/auth/logout')
      expect([...owner.cookies.keys()]).to.deep.equal([DEVICE])
      await attack(world)
      expect((await logIn(world.client(), PASSWORD)).status).to.equal(429)
      expect((await logIn(owner, PASSWORD)).status).to.equal(200)
      expect((await logIn(world.client(), PASSWORD)).status, 'strangers stay refused').to.equal(429)
    }))

  it('has ten tries of its own in 15 minutes, which cost the address nothing and a success gives back', () =>
    inWorld(limited, async (world) => {
      const thief = (await signedUp(world)).copy()
      thief.cookies.delete('mortar_refresh')
      thief.accessToken = undefined
      const statuses = []
      for (let n = 0; n < 11; n++) statuses.push((await logIn(thief, NEXT, `198.51.100.${n}`)).status)
      expect(statuses).to.deep.equal([...Array.from({ length: 10 }, () => 401), 429])
      expect((await logIn(thief, PASSWORD, '198.51.100.12')).status).to.equal(429)
      for (let n = 0; n < 10; n++)
        expect((await logIn(world.client(), NEXT, '203.0.113.1')).status).to.equal(401)
      world.clock.advance(900)
      for (let round = 0; round < 2; round++) {
        for (let n = 0; n < 9; n++) expect((await logIn(thief, NEXT)).status).to.equal(401)
        expect((await logIn(thief, PASSWORD, '192.0.2.3')).status).to.equal(200)
        world.clock.advance(60)
      }
    }))

  it('has a hundred tries in 15 minutes together with all others of its address, which a reset gives back', () =>
    inWorld(limited, async (world) => {
      const client = await signedUp(world)
      const cookies = [client.cookies.get(DEVICE)!]
      for (let n = 0; n < 10; n++) {
        await logIn(client, PASSWORD)
        cookies.push(client.cookies.get(DEVICE)!)
      }
      const [owner, ...stolen] = cookies.map((value) => withDevice(world, value))
      const statuses = []
      for (const [at, thief] of stolen.entries())
        for (let n = 0; n < 10; n++) statuses.push((await logIn(thief, NEXT, `203.0.${at}.${n}`)).status)
      expect(statuses).to.deep.equal(Array.from({ length: 100 }, () => 401))
      const { status } = await logIn(owner!, NEXT)
      expect([status, world.events.at(-1)!.event['scope']]).to.deep.equal([429, 'devices'])
      expect((await logIn(world.client(), PASSWORD)).status, 'another browser').to.equal(200)
      expect((await logIn(owner!, PASSWORD)).status).to.equal(200)
      world.clock.advance(900)
      for (const thief of stolen) for (let n = 0; n < 10; n++) await logIn(thief, NEXT, `198.51.${n}.1`)
      expect((await logIn(owner!, PASSWORD)).status, 'again').to.equal(429)
      const password = 'a third horse battery'
      await world.client().post('/auth/reset-password', { token: await resetTokenFor(world), password })
      expect((await logIn(owner!, password)).status).to.equal(200)
    }))

  it('gives nothing but that budget', () =>
    inWorld(limited, async (world) => {
      const owner = await signedUp(world)
      const thief = withDevice(world, owner.cookies.get(DEVICE)!)
      expect((await thief.post('/auth/refresh')).status).to.equal(401)
      expect((await thief.get('/auth/me')).status).to.equal(401)
      expect((await logIn(thief, NEXT)).status).to.equal(401)
    }))

  it('is bound to its account and to the secret', () =>
    inWorld(limited, async (world) => {
      const owner = await signedUp(world)
      const [id, mac] = owner.cookies.get(DEVICE)!.split('.') as [string, string]
      const eve = world.client()
      await eve.post('/auth/signup', { ...ADA, email: 'eve@example.com' })
      const forged = [
        eve.cookies.get(DEVICE)!,
        `${id}.${mac.replace(/./, (first) => (first === 'A' ? 'B' : 'A'))}`,
        `${'A'.repeat(22)}.${mac}`,
        `${id}.`,
        id,
        `${id}.${mac}.${mac}`,
      ]
      await attack(world)
      for (const [n, value] of forged.entries())
        expect((await logIn(withDevice(world, value), PASSWORD, `203.0.113.${n}`)).status, value).to.equal(
          429,
        )
    }))

  it('outlives a change of the secret while the old one is in the list', async () => {
    const OLD = 'the secret of yesterday, which is long enough'
    const NEW = 'the secret of today, which is long enough too'
    await inWorld({ ...limited, file: true, auth: { secret: OLD } }, async (before) => {
      const owner = await signedUp(before)
      const value = owner.cookies.get(DEVICE)!
      for (const [secret, status] of [
        [[NEW, OLD], 200],
        [[NEW], 429],
      ] as const)
        await inWorld({ ...limited, file: before.file, auth: { secret } }, async (world) => {
          await attack(world)
          expect((await logIn(withDevice(world, value), PASSWORD)).status).to.equal(status)
        })
    })
  })

  it('is signed with the newest secret', () => {
    const [newest, old] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
    const mark = createDeviceMarks([newest, old]).issue({ ...ADA, passwordVersion: 0 })
    expect(createDeviceMarks([newest]).verify(mark, ADA.email)).to.equal(mark.slice(0, 22))
    expect(createDeviceMarks([old]).verify(mark, ADA.email)).to.equal(undefined)
  })

  it('names the version of the password by each secret of the list', () => {
    const [newest, old] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
    const user = { ...ADA, passwordVersion: 3 }
    const id = createDeviceMarks([old]).issue(user).slice(0, 22)
    const isCurrent = (keys: Buffer[], passwordVersion = 3) =>
      createDeviceMarks(keys).isCurrent(id, { ...user, passwordVersion })
    expect([isCurrent([newest, old]), isCurrent([newest]), isCurrent([newest, old], 4)]).to.deep.equal([
      true,
      false,
      false,
    ])
  })

  it('is set by signup and login alone, is new each time, and says nothing about account or time', () =>
    inWorld(limited, async (world) => {
      const client = await signedUp(world)
      const first = client.cookies.get(DEVICE)!
      expect(first).to.match(/^[\w-]{22}\.[\w-]{43}$/)
      await client.post('/auth/refresh')
      await logIn(client, NEXT)
      await client.post('/auth/forgot-password', { email: ADA.email })
      expect(client.cookies.get(DEVICE)).to.equal(first)
      await logIn(client, PASSWORD)
      expect(client.cookies.get(DEVICE))
        .to.match(/^[\w-]{22}\.[\w-]{43}$/)
        .and.not.equal(first)
    }))

  it('has the attributes of the refresh cookie, for 400 days', () =>
    inWorld({ auth: { appUrl: 'https://app.example.com' } }, async (world) => {
      const response = await world.app.inject({
        method: 'POST',
        url: '/auth/signup',
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify(ADA),
      })
      const lines = [response.headers['set-cookie']].flat() as string[]
      expect(lines[1]).to.match(
        /^__Host-mortar_device=[\w.-]+; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      )
    }))

  it('is neither set nor read with deviceCookie: false', () =>
    inWorld({ ...limited, auth: { deviceCookie: false } }, async (world) => {
      const owner = await signedUp(world)
      expect([...owner.cookies.keys()]).to.deep.equal(['mortar_refresh'])
    }))

  it('falls back to the budgets of strangers where its limit is switched off', () =>
    inWorld({ ...limited, auth: { limits: { login: { device: false } } } }, async (world) => {
      const owner = await signedUp(world)
      await attack(world)
      expect((await logIn(owner, PASSWORD)).status).to.equal(429)
    }))
})
