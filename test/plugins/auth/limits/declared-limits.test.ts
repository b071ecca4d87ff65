import { expect } from 'chai'
import type { DeclaredLimit, Limiter } from 'mortar'
import { createMemoryLimiter } from 'mortar/kit'
import { createRateLimits, type LimitRule } from '../../../../plugins/auth/limits/rate-limits.ts'

const SUBJECT = { ip: '2001:db8::1', email: 'ada@example.com', user: 'ada', session: 'a session' }

/** Limits of which an operator can find those that are declared, and the keys that are counted. */
function scene() {
  const declared = new Map<string, DeclaredLimit>()
  const counted = new Set<string>()
  const memory = createMemoryLimiter({ clock: { now: () => 0 } })
  const limiter: Limiter = {
    ...memory,
    declare: (limit) => void declared.set(limit.name, limit),
    consume(key, limit) {
      counted.add(key)
      return memory.consume(key, limit)
    },
  }
  return { declared, counted, limits: createRateLimits({ limiter, key: Buffer.alloc(32, 7) }) }
}

describe('The limits that are declared to an operator', () => {
  it('have the keys by which they count, in every spelling of an address', async () => {
    const { declared, counted, limits } = scene()
    for (const { name, keyOf } of declared.values()) {
      const [rule = '', scope = ''] = name.split('-')
      const device = name.includes('device') && { device: 'a device' }
      await limits.attempt(rule as LimitRule, { ...SUBJECT, ...device })
      const key = scope === 'session' ? SUBJECT.session : ' ADA@Example.com'
      const stored = keyOf({ ip: SUBJECT.ip, user: SUBJECT.user, key })
      expect(counted.has(stored!), name).to.equal(true)
      counted.clear()
    }
  })

  it('are all but those whose cookie only a browser knows', () => {
    const names = [...scene().declared.keys()]
    expect(names).to.include.members([
      'login-pair',
      'forgot-device',
      'refresh-session',
      'changePassword-user',
    ])
    expect(names).to.not.include('login-device')
  })

  for (const [what, name, client] of [
    ['nothing is known', 'login-ip', {}],
    ['a part of its facts is known', 'login-pair', { key: SUBJECT.email }],
    ['the key is not an address', 'login-address', { key: 'a session' }],
    ['an address of IPv4 has no site', 'login-site', { ip: '192.0.2.1' }],
  ] as const)
    it(`have no key where ${what}: ${name}`, () => {
      expect(scene().declared.get(name)!.keyOf(client)).to.equal(undefined)
    })
})
