import { expect } from 'chai'
import { createApp, type User } from 'mortar'
import { auth, type AuthProvider } from '@mortar/auth'
import { providerSuite, type ProviderFixture } from '@mortar/auth/testing'

const ada: User = { id: 'ada', raw: {} }
const provider: AuthProvider = {
  name: 'one token',
  securityScheme: { name: 'token', scheme: { type: 'http', scheme: 'bearer' } },
  identify: ({ token }) => (token === 'good' ? ada : null),
}

const fixture = (): ProviderFixture => ({
  createApp: (policies) => createApp({ logger: false }).use(auth(provider, { policies })),
  signIn: async () => ({ userId: 'ada', token: 'good' }),
  invalid: () => ['bad'],
})

type Body = (this: unknown, ...args: unknown[]) => Promise<void>

/** The tests of the suite by title, as a runner would get them. */
function collected(): ReadonlyMap<string, Body> {
  const tests = new Map<string, Body>()
  providerSuite(
    { describe: (_name, body) => body(), it: (title, body) => tests.set(title, body) },
    'x',
    fixture,
  )
  return tests
}

describe('The suite of auth providers', () => {
  const NEED = [
    'tells of a sign-in by one event, without its token',
    'lets nobody in when what it asks fails',
    'holds no request when what it asks hangs',
  ]

  it('skips by name what the fixture has no part for, in every runner', async () => {
    const tests = collected()
    for (const title of NEED) {
      const skipped: string[] = []
      const self = { skip: () => skipped.push('this') }
      const context = { skip: () => skipped.push('argument') }
      await tests.get(title)!.call(self)
      await tests.get(title)!.call(undefined, context)
      expect(skipped, title).to.deep.equal(['this', 'argument'])
    }
  })

  it('runs the others, and hands no test a parameter that mocha would take for a callback', async () => {
    const tests = collected()
    for (const [title, body] of tests) expect(body.length, title).to.equal(0)
    let skipped = 0
    await tests.get('guards HEAD as GET')!.call({ skip: () => (skipped += 1) })
    expect(skipped).to.equal(0)
  })
})
