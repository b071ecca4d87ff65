import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { basicAuth } from '@mortar/auth/basic'
import { StartupError, type Cradle, type Logger } from 'mortar'
import { createBreachedPasswords } from '../../../../plugins/auth/passwords/weak-passwords/breached-passwords.ts'
import { createPasswordJudge } from '../../../../plugins/auth/passwords/weak-passwords/password-judge.ts'
import { ADA, inWorld, PASSWORD, SECRET } from '../support/world.ts'

const HASH = createHash('sha1').update(PASSWORD).digest('hex').toUpperCase()
const OTHERS = `${'0'.repeat(35)}:12\r\n${'F'.repeat(35)}:0\r\n`

/** A range service that keeps what it is asked. */
function service(respond: (signal: AbortSignal) => Promise<Response> | Response) {
  const asked: { url: string; headers: Headers }[] = []
  const fetch = (async (url: string, init: RequestInit) => {
    asked.push({ url, headers: new Headers(init.headers) })
    return respond(init.signal!)
  }) as typeof globalThis.fetch
  return { asked, fetch }
}

function check(respond: Parameters<typeof service>[0], timeout: string | number = '1s') {
  const warnings: object[] = []
  const logger = { warn: (fields: object) => void warnings.push(fields) } as unknown as Logger
  const { asked, fetch } = service(respond)
  return { asked, warnings, isBreached: createBreachedPasswords({ fetch, timeout }, logger) }
}

describe('breached passwords', () => {
  it('are found by a range of the hash, of which five digits leave the process', async () => {
    const { asked, warnings, isBreached } = check(() => new Response(`${OTHERS}${HASH.slice(5)}:3\r\n`))
    expect(await isBreached(PASSWORD)).to.equal(true)
    expect(await isBreached(`${PASSWORD}!`)).to.equal(false)
    expect(asked[0]!.url).to.equal(`https://api.pwnedpasswords.com/range/${HASH.slice(0, 5)}`)
    expect(asked[0]!.headers.get('add-padding')).to.equal('true')
    expect(JSON.stringify(asked)).to.not.include(HASH.slice(5))
    expect(warnings).to.deep.equal([])
  })

  it('are looked for with the global fetch where the option is true, but not under test', async () => {
    const real = globalThis.fetch
    const { asked, fetch } = service(() => new Response(`${HASH.slice(5)}:3`))
    globalThis.fetch = fetch
    try {
      for (const [environment, times] of [
        ['test', 0],
        ['development', 1],
      ] as const) {
        const services = { environment, logger: { warn: () => undefined } } as unknown as Cradle
        const judge = createPasswordJudge({ breachedPasswords: true }, services)
        expect((await judge(PASSWORD, ADA)) !== undefined).to.equal(times === 1)
        expect(asked).to.have.length(times)
      }
    } finally {
      globalThis.fetch = real
    }
  })

  it('are not the padding, whose count is 0', async () => {
    const { isBreached } = check(() => new Response(`${HASH.slice(5)}:0\r\n${OTHERS}`))
    expect(await isBreached(PASSWORD)).to.equal(false)
  })

  it('are compared in the form that is hashed, NFC', async () => {
    const hash = createHash('sha1').update('caf\u00e9 au lait').digest('hex').toUpperCase()
    const { isBreached } = check(() => new Response(`${hash.slice(5).toLowerCase()}:1`))
    expect(await isBreached('cafe\u0301 au lait')).to.equal(true)
  })

  const FAILURES: Record<string, [Parameters<typeof service>[0], string]> = {
    'answers 503': [() => new Response('', { status: 503 }), 'The service responded with 503.'],
    'cannot be reached': [() => Promise.reject(new TypeError(`fetch failed ${HASH}`)), 'TypeError'],
    'does not answer in time': [
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        }),
      'TimeoutError',
    ],
  }
  for (const [failure, [respond, reason]] of Object.entries(FAILURES))
    it(`pass with a warning when the service ${failure}`, async () => {
      const { warnings, isBreached } = check(respond, '10ms')
      expect(await isBreached(PASSWORD)).to.equal(false)
      expect(warnings).to.deep.equal([{ reason }])
    })

  it('are refused by signup with a reason', () => {
    const { fetch } = service(() => new Response(`${HASH.slice(5)}:3`))
    return inWorld({ auth: { breachedPasswords: { fetch } } }, async (world) => {
      const answer = await world.client().post('/auth/signup', ADA)
      expect(answer.status).to.equal(422)
      expect(answer.body.errors[0].message).to.match(/data breach/)
    })
  })

  it('are asked about after the other rules, and not by default', () => {
    const { asked, fetch } = service(() => new Response(''))
    return inWorld({ auth: { breachedPasswords: { fetch } } }, async (world) => {
      expect((await world.client().post('/auth/signup', { ...ADA, password: 'password' })).status).to.equal(
        422,
      )
      expect(asked).to.deep.equal([])
      expect((await world.client().post('/auth/signup', ADA)).status).to.equal(201)
      expect(asked).to.have.length(1)
    })
  })

  it('ask nobody by default, and nobody under test without a fetch', async () => {
    const { fetch } = globalThis
    let asked = 0
    globalThis.fetch = async () => {
      asked += 1
      return new Response('')
    }
    try {
      for (const auth of [{}, { breachedPasswords: true }, { breachedPasswords: { timeout: 2 } }])
        await inWorld({ auth }, async (world) =>
          expect((await world.client().post('/auth/signup', ADA)).status).to.equal(201),
        )
    } finally {
      globalThis.fetch = fetch
    }
    expect(asked).to.equal(0)
  })

  for (const [what, breachedPasswords] of Object.entries({
    'a timeout of 0': { timeout: 0 },
    'a timeout of two minutes': { timeout: '2m' },
    'a timeout that is not a duration': { timeout: 'soon' as never },
    'an address that is not a URL': { url: 'ranges' },
  }))
    it(`stop the start for ${what}`, async () => {
      expect(basicAuth({ secret: SECRET, breachedPasswords })).to.be.an('object')
      const refused: unknown = await inWorld({ auth: { breachedPasswords } }, async () => undefined).catch(
        (error: unknown) => error,
      )
      expect(refused).to.be.instanceOf(StartupError).and.include({ code: 'MORTAR_AUTH_OPTION' })
    })
})
