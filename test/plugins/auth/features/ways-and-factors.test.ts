import { expect } from 'chai'
import { passkeys } from '@mortar/auth/passkeys'
import { SoftAuthenticator } from '@mortar/auth/testing'
import type { Client } from '../support/client.ts'
import { onEachStore } from '../support/on-each-store.ts'
import { add, logIn } from '../support/passkey-scene.ts'
import { claimsOf, enrol } from '../support/second-factor.ts'
import { ADA, resetTokenFor, signedUp, type World, type WorldOptions } from '../support/world.ts'
import { provider } from './support/account-scene.ts'
import { GRACE, socialScene, targetOf } from './support/social-scene.ts'

type Factor = 'nothing' | 'a code' | 'a passkey' | 'a required passkey' | 'a code and a required passkey'

const IN = 'in'
const ASKED = 'asked'

/** The end of each way in, by the factors of the account. */
const EXPECTED: Readonly<Record<string, Readonly<Partial<Record<Factor, string>>>>> = {
  'the password': {
    nothing: IN,
    'a code': ASKED,
    'a passkey': IN,
    'a required passkey': ASKED,
    'a code and a required passkey': ASKED,
  },
  'another provider': {
    nothing: IN,
    'a code': ASKED,
    'a passkey': IN,
    'a required passkey': ASKED,
    'a code and a required passkey': ASKED,
  },
  'the password and a code': { 'a code': IN, 'a code and a required passkey': ASKED },
  'a passkey': {
    nothing: 'refused',
    'a code': 'refused',
    'a passkey': IN,
    'a required passkey': IN,
    'a code and a required passkey': IN,
  },
  'a reset': {
    nothing: 'refused',
    'a code': 'refused',
    'a passkey': 'refused',
    'a required passkey': 'refused',
    'a code and a required passkey': 'refused',
  },
}

describe('Ways in and factors', () => {
  const scene = socialScene()
  const person = { ...GRACE, email: ADA.email }

  const worldOf = (factor: Factor): WorldOptions => {
    const base = scene.withSocial({}, { totp: true })
    const own = passkeys({ required: factor.includes('required') })
    return { ...base, auth: { ...base.auth, features: [...base.auth!.features!, own] } }
  }

  /** Ada with a password, an account at a provider, and the factors. */
  async function enrolledWith(world: World, factor: Factor, signedIn?: Client) {
    const client = signedIn ?? (await signedUp(world))
    const { url } = (await client.post('/auth/social/company/link', {})).body as { url: string }
    expect(targetOf(await client.get(await scene.issuer.signIn(url, person)))).to.equal('302 /')
    const device = new SoftAuthenticator()
    if (factor.includes('passkey')) expect((await add(client, device)).status).to.equal(201)
    const next = factor.includes('code') ? (await enrol(world, client)).next : () => '000000'
    return { device, next }
  }

  /** Tries a way in. @returns the code of its refusal. */
  async function tryWay(
    world: World,
    browser: Client,
    way: string,
    { device, next }: Awaited<ReturnType<typeof enrolledWith>>,
  ): Promise<unknown> {
    if (way === 'another provider') {
      const { headers } = await scene.visit(browser, person)
      return new URL(String(headers['location']), scene.issuer.url).searchParams.get('error')
    }
    if (way === 'a reset') {
      const reset = { token: await resetTokenFor(world), password: 'another horse battery' }
      return (await browser.post('/auth/reset-password', reset)).body.code
    }
    if (way === 'a passkey') {
      const unknown = () => 'refused'
      return logIn(browser, device).then(({ body }) => body.code as unknown, unknown)
    }
    const { body } = await browser.post('/auth/login', ADA)
    if (way === 'the password') return body.code
    return (await browser.post('/auth/login/factor', { challenge: body.challenge, code: next() })).body.code
  }

  onEachStore('a way in', (inWorld) => {
    for (const [way, ends] of Object.entries(EXPECTED))
      for (const [factor, end] of Object.entries(ends) as [Factor, string][])
        it(`by ${way}, of an account with ${factor}, is ${end}`, () =>
          inWorld(worldOf(factor), async (world) => {
            const enrolled = await enrolledWith(world, factor)
            const browser = world.client()
            const code = await tryWay(world, browser, way, enrolled)
            const { status } = await browser.post('/auth/refresh')
            expect([status === 200, code === 'second_factor_required'], String(code)).to.deep.equal([
              end === IN,
              end === ASKED,
            ])
            if (end !== IN) return
            // A further login of the browser ends the session that it had before (ASVS 7.2.4).
            const before = browser.copy()
            await tryWay(world, browser, way, enrolled)
            const refresh = async (each: Client) => (await each.post('/auth/refresh')).status
            expect([await refresh(before), await refresh(browser)]).to.deep.equal([401, 200])
          }))

    it('stays after a reset of an account whose address was proven before', () =>
      inWorld(worldOf('a passkey'), async (world) => {
        const reset = async () => {
          const token = await resetTokenFor(world)
          return (await world.client().post('/auth/reset-password', { token, password: ADA.password })).status
        }
        await signedUp(world)
        expect(await reset()).to.equal(200)
        const client = world.client()
        await client.post('/auth/login', ADA)
        const { device, next } = await enrolledWith(world, 'a passkey', client)
        expect(await reset()).to.equal(200)
        for (const way of ['another provider', 'a passkey']) {
          const browser = world.client()
          await tryWay(world, browser, way, { device, next })
          expect((await browser.post('/auth/refresh')).status, way).to.equal(200)
        }
      }))

    it('by another provider is left when an operator removes the factors', () =>
      inWorld(worldOf('a code and a required passkey'), async (world) => {
        const enrolled = await enrolledWith(world, 'a code and a required passkey')
        const [{ id }] = await world.storage.users()
        const { removeFactor } = provider(world).accounts!
        expect([await removeFactor!(id), await removeFactor!(id)]).to.deep.equal([true, false])
        for (const [way, end] of [
          ['the password', 200],
          ['another provider', 200],
          ['a passkey', 401],
        ] as const) {
          const browser = world.client()
          await tryWay(world, browser, way, enrolled)
          expect((await browser.post('/auth/refresh')).status, way).to.equal(end)
        }
      }))

    it('leaves a change of the password the methods of its code, whatever other features ask for', () =>
      inWorld(worldOf('a code'), async (world) => {
        const { client, next } = await enrol(world, await signedUp(world))
        const change = { current: ADA.password, next: 'another horse battery', code: next() }
        expect((await client.post('/auth/change-password', change)).status).to.equal(200)
        expect(claimsOf(client.accessToken)['amr']).to.deep.equal(['pwd', 'otp', 'mfa'])
      }))
  })
})
