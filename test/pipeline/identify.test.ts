import { expect } from 'chai'
import {
  createApp,
  createRouter,
  type AppOptions,
  type Authenticator,
  type CredentialRequest,
  type Logger,
} from 'mortar'
import { throughBothAdapters } from '../support/adapters.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'
import { UNREADABLE } from '../support/unreadable-error.ts'

const WITHOUT_STATUS = Object.defineProperty(new Error('The key server is down.'), 'status', {
  get() {
    throw new Error('a getter')
  },
})

function recorder() {
  const errors: { fields: Record<string, unknown>; message: unknown }[] = []
  const quiet = () => undefined
  const logger: Logger = {
    debug: quiet,
    info: quiet,
    warn: quiet,
    error: (fields: unknown, message?: unknown) =>
      void errors.push({ fields: fields as Record<string, unknown>, message }),
    child: () => logger,
  }
  return { logger, errors }
}

const appWith = (options: AppOptions, more: Partial<Authenticator> = {}) =>
  createApp({ logger: false, ...options })
    .use(tokens({}, more))
    .use(
      createRouter()
        .get('/mine', { auth: true }, (ctx) => ctx.user.id)
        .get('/public', (ctx) => ({ id: ctx.user?.id ?? null }))
        .post('/mine', { auth: true }, (ctx) => ctx.user.id)
        .post('/public', (ctx) => ({ id: ctx.user?.id ?? null })),
    )

describe('identifying the user of a request', () => {
  throughBothAdapters((open) => {
    it('lets only pages of trusted origins write with a cookie', async () => {
      const { fetch } = await open(
        appWith(
          { trustedOrigins: ['https://pages.example'], appUrl: 'https://app.example' },
          { trustedOrigins: ['https://brick.example'] },
        ),
      )
      const status = async (origin: string) => {
        const headers = { cookie: 'access_token=ada', 'sec-fetch-site': 'cross-site', origin }
        return (await fetch('/mine', { method: 'POST', headers })).status
      }
      for (const origin of ['https://pages.example', 'https://app.example', 'https://brick.example'])
        expect(await status(origin), origin).to.equal(200)
      const headers = { cookie: 'access_token=ada', 'sec-fetch-site': 'cross-site' }
      expect((await fetch('/public', { method: 'POST', headers })).status, 'a public route').to.equal(403)
      for (const origin of ['https://evil.example', 'http://pages.example', 'https://x.pages.example'])
        expect(await status(origin), origin).to.equal(403)
    })

    for (const [peer, trustProxy, allowed] of [
      ['a trusted proxy', ['127.0.0.1'], false],
      ['a client that is not a trusted proxy', false, true],
    ] as const)
      it(`${allowed ? 'lets' : 'refuses to let'} a page in plain http write with a cookie if https is reported by ${peer}`, async () => {
        const { fetch, url } = await open(appWith({ trustProxy }))
        const { host } = new URL(url)
        const statusOf = async (origin: string, proto: string) => {
          const headers = { cookie: 'access_token=ada', host, origin, 'x-forwarded-proto': proto }
          return (await fetch('/mine', { method: 'POST', headers })).status
        }
        expect(await statusOf(`http://${host}`, 'https')).to.equal(allowed ? 200 : 403)
        expect(await statusOf(`https://${host}`, 'https')).to.equal(200)
        expect(await statusOf(`http://${host}`, 'http')).to.equal(200)
      })

    it('passes method, path, headers, address and signal to the authenticator', async () => {
      const seen: CredentialRequest[] = []
      const { fetch } = await open(
        appWith(
          { trustProxy: 1 },
          {
            identify: (_credential, request) => {
              seen.push(request)
              return { id: 'ada', raw: {} }
            },
          },
        ).use(createRouter().post('/signal', ({ signal }) => ({ isSame: signal === seen[0]!.signal }))),
      )
      const response = await fetch('/signal?a=1', {
        method: 'POST',
        headers: { ...bearer('x'), 'x-own': 'yes', 'x-forwarded-for': '6.6.6.6' },
      })
      expect(seen).to.have.length(1)
      expect(await response.json()).to.deep.equal({ isSame: true })
      const [{ method, path, headers, ip, signal }] = seen as [CredentialRequest]
      expect({ method, path, ip }).to.deep.equal({ method: 'POST', path: '/signal', ip: '6.6.6.6' })
      expect(headers['x-own']).to.equal('yes')
      expect(signal).to.be.instanceOf(AbortSignal)
    })

    it('accepts no user that is not an object', async () => {
      for (const user of [true, 'ada', 1, undefined, null]) {
        const { fetch } = await open(appWith({}, { identify: () => user as never }))
        expect((await fetch('/mine', { headers: bearer('ada') })).status, String(user)).to.equal(401)
        expect(await (await fetch('/public', { headers: bearer('ada') })).json()).to.deep.equal({ id: null })
      }
    })

    for (const [how, identify] of [
      [
        'throws',
        () => {
          throw new Error('The key server is down.')
        },
      ],
      ['rejects', () => Promise.reject(new Error('The key server is down.'))],
      ['rejects with nothing', () => Promise.reject(undefined)],
      ['rejects with what cannot be read', () => Promise.reject(UNREADABLE)],
      ['rejects with NaN', () => Promise.reject(Number.NaN)],
      ['rejects with an error whose status cannot be read', () => Promise.reject(WITHOUT_STATUS)],
    ] as const)
      it(`refuses guarded routes, serves public ones and logs it when the authenticator ${how}`, async () => {
        const { logger, errors } = recorder()
        const { fetch } = await open(appWith({ logger }, { identify }))
        const refused = await fetch('/mine', { headers: bearer('ada') })
        expect(refused.status).to.equal(500)
        const logged = errors.filter(({ message }) => /credential/i.test(String(message)))
        expect(logged).to.have.length(1)
        expect(errors, 'other lines').to.have.length(1)
        expect(logged[0]!.fields['requestId']).to.equal(refused.headers.get('x-request-id'))
        const open_ = await fetch('/public', { headers: bearer('ada') })
        expect(await open_.json()).to.deep.equal({ id: null })
      })
  })

  it('rejects policy names that every object inherits', async () => {
    for (const name of ['toString', 'constructor', '__proto__', 'hasOwnProperty']) {
      const app = createApp({ logger: false })
        .use(tokens({ admin: () => true }))
        .use(createRouter().get('/a', { auth: name }, () => 'in'))
      const error = await app.ready().catch((reason: { code: string }) => reason)
      expect(error, name).to.have.property('code', 'MORTAR_POLICY_UNKNOWN')
    }
  })
})
