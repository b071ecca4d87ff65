import { expect } from 'chai'
import type { Cradle } from 'mortar'
import { memoryLimitFindings, warnOfMemoryLimits } from '../../../../plugins/auth/limits/memory-limits.ts'
import type { PasswordAuthOptions } from '../../../../plugins/auth/options/options.ts'

const NAMES = ['FRAMEWORK_PROCESSES', 'FRAMEWORK_WORKER'] as const

/** The codes that the doctor reports and that a start logs, in one of several processes. */
function codes(
  options: Partial<PasswordAuthOptions>,
  { count = '3', number = '1', services = {} }: { count?: string; number?: string; services?: object } = {},
): readonly [doctor: readonly string[], start: readonly string[]] {
  const before = NAMES.map((name) => process.env[name])
  Object.assign(process.env, { FRAMEWORK_PROCESSES: count, FRAMEWORK_WORKER: number })
  const logged: string[] = []
  const logger = { warn: ({ code }: { code: string }, text: string) => logged.push(`${code} ${text}`) }
  const cradle = { environment: 'production', logger, ...services } as unknown as Cradle
  const given = { secret: 'x', ...options } as PasswordAuthOptions
  try {
    warnOfMemoryLimits(given, cradle)
    return [memoryLimitFindings(given, cradle).map(({ code, found }) => `${code} ${found}`), logged]
  } finally {
    for (const [index, name] of NAMES.entries())
      if (before[index] === undefined) Reflect.deleteProperty(process.env, name)
      else process.env[name] = before[index]
  }
}

describe('limits of the sign-in in several processes', () => {
  it('are reported by the doctor and by the start if they are counted in memory', () => {
    const [doctor, start] = codes({})
    expect(doctor.join()).to.match(/^MORTAR_AUTH_LIMITS_MEMORY .*each limit 3 times\.$/)
    expect(start.join()).to.match(/^MORTAR_AUTH_LIMITS_MEMORY .*each limit 3 times\. Count for all/)
  })

  it('are logged by the first process only', () => {
    expect(codes({}, { number: '2' })[1]).to.deep.equal([])
  })

  const FINE: Readonly<Record<string, ReturnType<typeof codes>>> = {
    'one process': codes({}, { count: '1' }),
    'a Redis client': codes({ redis: {} as never }),
    'no limits': codes({ limits: false }),
    'the service `limiter`, whose own brick warns': codes({}, { services: { limiter: {} } }),
    development: codes({}, { services: { environment: 'development' } }),
  }
  for (const [what, found] of Object.entries(FINE))
    it(`are not reported with ${what}`, () => {
      expect(found).to.deep.equal([[], []])
    })
})
