import { request } from 'node:http'
import { expect } from 'chai'
import { createApp, createRouter, defineBrick, value, type Limiter } from 'mortar'
import { limits } from '@mortar/limits'
import { createMemoryLimiter } from '../../src/limits/memory-limiter.ts'
import { TestClock } from '../plugins/auth/support/clock.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'
import { appOf, countIn, from, limited, PER_MINUTE, statuses } from '../support/limited-app.ts'
import { bearer } from '../support/tokens-brick.ts'

for (const store of ['immediate', 'asynchronous'])
  throughBothAdapters((open) => {
    describe(`a limited route with an ${store} store`, () => {
      before(() => countIn(store))
      after(() => countIn('immediate'))

      it('counts by each of two limits of one stage, in counters of their own', async () => {
        for (const by of ['ip', 'credential', () => 'one'] as const) {
          const rules = [
            { limit: 3, window: '1h', by },
            { limit: 2, window: '1h', by },
            { limit: 5, window: '1m', by },
          ] as const
          const app = await open(appOf(limited(rules)))
          const found = await statuses(app, 4, '/a', { headers: bearer('ada') })
          expect(found, String(by)).to.deep.equal([200, 200, 429, 429])
          const other = await open(
            appOf(
              limited([
                { limit: 9, window: '1h', by },
                { limit: 2, window: '1m', by },
              ]),
            ),
          )
          expect(await statuses(other, 3, '/a', { headers: bearer('ada') }), String(by)).to.deep.equal([
            200, 200, 429,
          ])
          const equal = { limit: 3, window: '1h', by } as const
          const twins = await open(appOf(limited([equal, equal])))
          expect(await statuses(twins, 4, '/a', { headers: bearer('ada') }), String(by)).to.deep.equal([
            200, 200, 200, 429,
          ])
        }
      })

      it('by credential gives the limiter no token', async () => {
        const keys: string[] = []
        const counting = createMemoryLimiter({ clock: new TestClock() })
        const consume: Limiter['consume'] = (key, limit) => {
          keys.push(key)
          return counting.consume(key, limit)
        }
        const app = appOf(limited({ limit: 9, window: '1h', by: 'credential' }))
        app.override({ limiter: value({ ...counting, consume }) })
        expect(await statuses(await open(app), 1, '/a', { headers: bearer('secret-of-ada') })).to.eql([200])
        expect(keys).to.have.length(1)
        expect(keys[0]).not.to.include('secret-of-ada')
      })

      it('by credential keeps many credentials apart', async () => {
        const app = await open(appOf(limited({ limit: 1, window: '1h', by: 'credential' }, { auth: true })))
        const found = await Promise.all(
          Array.from({ length: 70 }, (_, index) =>
            statuses(app, 1, '/a', { headers: bearer(`user${index}`) }),
          ),
        )
        expect(new Set(found.flat())).to.deep.equal(new Set([200]))
      })

      it('leaves a response alone that middleware has sent before the count', async () => {
        const counted = deferred()
        let inner: Promise<unknown> | undefined
        const by = async () => {
          await counted.promise
          return 'late'
        }
        const router = createRouter()
          .use((_ctx, next) => {
            inner = next()
            return 'early'
          })
          .get('/a', { limit: { limit: 1, window: '1h', by } }, () => 'ok')
        const app = await open(appOf(router))
        expect(await (await app.fetch('/a')).text()).to.equal('early')
        counted.resolve()
        expect(await inner).to.equal('ok')
      })

      it('refuses the request beyond its limit, with a problem and headers', async () => {
        const app = await open(appOf(limited(PER_MINUTE)))
        const first = await app.fetch('/a')
        expect(first.headers.get('ratelimit-policy')).to.equal('"ip-60s";q=2;w=60')
        expect(first.headers.get('ratelimit')).to.equal('"ip-60s";r=1;t=60')
        expect(await first.text()).to.equal('ok')
        await statuses(app, 1)
        const third = await app.fetch('/a')
        expect(third.status).to.equal(429)
        expect(third.headers.get('ratelimit')).to.match(/^"ip-60s";r=0;t=\d+$/)
        expect(Number(third.headers.get('retry-after'))).to.be.within(1, 60)
        expect(await third.json()).to.deep.include({
          status: 429,
          code: 'rate_limited',
          title: 'Rate limit reached',
          type: 'urn:mortar:problem:rate_limited',
        })
      })

      it('counts each network alone: an IPv4 address, the /64 of an IPv6 address', async () => {
        const app = await open(appOf(limited(PER_MINUTE)))
        const found: number[] = []
        for (const ip of [
          '192.0.2.1',
          '192.0.2.1',
          '192.0.2.2',
          '2001:db8::1',
          '2001:db8::2',
          '2001:db8:0:1::1',
        ])
          found.push(...(await statuses(app, 1, '/a', from(ip))))
        expect(found).to.deep.equal([200, 200, 200, 200, 200, 200])
        expect(await statuses(app, 1, '/a', from('192.0.2.1'))).to.deep.equal([429])
        expect(await statuses(app, 1, '/a', from('2001:db8::ffff'))).to.deep.equal([429])
      })

      it('counts HEAD as GET, never OPTIONS, and errors as well', async () => {
        const router = createRouter()
          .get('/a', { limit: PER_MINUTE }, () => 'ok')
          .options('/b', { limit: PER_MINUTE }, () => 'options')
          .get('/c', { limit: PER_MINUTE }, () => {
            throw new Error('a fault of the handler')
          })
          .head('/d', { limit: PER_MINUTE }, () => undefined)
          .get('/d', { limit: PER_MINUTE }, () => 'ok')
        const app = await open(appOf(router))
        expect(await statuses(app, 3, '/a', { method: 'HEAD' })).to.deep.equal([200, 200, 429])
        expect(await statuses(app, 1)).to.deep.equal([429])
        expect(await statuses(app, 3, '/a', { method: 'OPTIONS' })).to.deep.equal([204, 204, 204])
        expect(await statuses(app, 3, '/b', { method: 'OPTIONS' })).to.deep.equal([200, 200, 200])
        expect(await statuses(app, 3, '/c')).to.deep.equal([500, 500, 429])
        expect([
          ...(await statuses(app, 2, '/d', { method: 'HEAD' })),
          ...(await statuses(app, 1, '/d')),
        ]).to.deep.equal([204, 204, 429])
      })

      it('refuses before the credential is evaluated, the guard asks and the body is read', async () => {
        let identified = 0
        const counting = defineBrick({
          name: 'counting',
          services: {
            authenticator: value({
              identify: ({ token }: { token: string }) => {
                identified += 1
                return { id: token, raw: {} }
              },
              policies: {},
              securityScheme: { name: 'bearer', scheme: {} },
            }),
          },
        })
        const router = createRouter().post('/a', { auth: true, limit: PER_MINUTE }, () => 'ok')
        const app = await open(
          createApp({ environment: 'test', logger: false }).use(counting).use(limits()).use(router),
        )
        const init = { method: 'POST', headers: bearer('ada') }
        expect(await statuses(app, 3, '/a', init)).to.deep.equal([200, 200, 429])
        expect(identified).to.equal(2)
        expect(await unfinishedUpload(`${app.url}/a`)).to.equal(429)
      })

      it('counts each method of a path alone', async () => {
        const limit = { limit: 1, window: '1h', by: 'ip' } as const
        const router = createRouter()
          .get('/a', { limit }, () => 'ok')
          .post('/a', { limit }, () => 'ok')
        const app = await open(appOf(router))
        const found = [await statuses(app, 2), await statuses(app, 2, '/a', { method: 'POST' })]
        expect(found).to.deep.equal([
          [200, 429],
          [200, 429],
        ])
      })

      it('counts strangers of a guarded route by address: 401, then 429', async () => {
        const app = await open(appOf(limited(PER_MINUTE, { auth: true })))
        expect(await statuses(app, 3)).to.deep.equal([401, 401, 429])
      })

      it('by user refuses strangers with 401 and keeps users behind one address apart', async () => {
        const app = await open(appOf(limited({ ...PER_MINUTE, by: 'user' }, { auth: true })))
        expect(await statuses(app, 3)).to.deep.equal([401, 401, 401])
        expect(await statuses(app, 3, '/a', { headers: bearer('ada') })).to.deep.equal([200, 200, 429])
        expect(await statuses(app, 3, '/a', { headers: bearer('async-bob') })).to.deep.equal([200, 200, 429])
      })

      it('by credential counts each presented token, also an invalid one, and none without a token', async () => {
        const app = await open(appOf(limited({ ...PER_MINUTE, by: 'credential' }, { auth: true })))
        expect(await statuses(app, 3)).to.deep.equal([401, 401, 401])
        expect(await statuses(app, 3, '/a', { headers: bearer('bad') })).to.deep.equal([401, 401, 429])
        expect(await statuses(app, 3, '/a', { headers: bearer('ada') })).to.deep.equal([200, 200, 429])
      })

      it('by a function counts its string, and nothing for null', async () => {
        const byKey = createRouter().get(
          '/a',
          {
            limit: {
              limit: 2,
              window: 60,
              by: async ({ headers }) => {
                const key = headers['x-api-key']
                return typeof key === 'string' ? key : null
              },
            },
          },
          () => 'ok',
        )
        const app = await open(appOf(byKey))
        expect(await statuses(app, 3)).to.deep.equal([200, 200, 200])
        for (const key of ['one', 'ONE', 'x'.repeat(5000)])
          expect(await statuses(app, 3, '/a', { headers: { 'x-api-key': key } })).to.deep.equal([
            200, 200, 429,
          ])
      })

      it('counts an empty string of the function as one subject, and fails for other values and errors', async () => {
        const RESULTS: Record<string, () => unknown> = {
          empty: () => '',
          promise: () => Promise.resolve(''),
          undefined: () => undefined,
          number: () => 5,
          throws: () => {
            throw new Error('a fault of the function')
          },
        }
        const router = createRouter()
        for (const [name, by] of Object.entries(RESULTS))
          router.get(`/${name}`, { limit: { limit: 1, window: 1, by: by as () => string } }, () => 'ok')
        const app = await open(appOf(router))
        expect(await statuses(app, 2, '/empty')).to.deep.equal([200, 429])
        expect(await statuses(app, 2, '/promise')).to.deep.equal([200, 429])
        for (const name of ['undefined', 'number', 'throws'])
          expect(await statuses(app, 2, `/${name}`), name).to.deep.equal([500, 500])
      })

      it('with a list counts by each limit, and reports all of them', async () => {
        const app = await open(
          appOf(
            limited([{ limit: 5, window: '1h', by: 'ip' }, 'search', { ...PER_MINUTE, by: 'user' }], {
              auth: true,
            }),
          ),
        )
        const first = await app.fetch('/a', { headers: bearer('ada') })
        expect(first.headers.get('ratelimit-policy')).to.equal(
          '"ip-3600s";q=5;w=3600, "search";q=2;w=60, "user-60s";q=2;w=60',
        )
        expect(first.headers.get('ratelimit')).to.equal(
          '"ip-3600s";r=4;t=3600, "search";r=1;t=60, "user-60s";r=1;t=60',
        )
        await statuses(app, 1)
        const third = await app.fetch('/a')
        expect(third.status).to.equal(429)
        expect(third.headers.get('ratelimit')).to.match(/^"ip-3600s";r=2;t=\d+, "search";r=0;t=\d+$/)
      })

      it('with a list counts once by each limit, whichever functions return promises', async () => {
        const now = () => 'one'
        const later = async () => 'one'
        const kinds = [now, later].flatMap((a) =>
          [now, later].flatMap((b) => [now, later].map((c) => [a, b, c])),
        )
        for (const kind of kinds) {
          const app = await open(appOf(limited(kind.map((by) => ({ limit: 5, window: '1m', by })))))
          const { headers } = await app.fetch('/a')
          const member = '"custom-60s";r=4;t=60'
          expect(headers.get('ratelimit')).to.equal([member, member, member].join(', '))
        }
      })

      it('with the name of a rule shares its counter with other routes of the name', async () => {
        const router = createRouter()
          .get('/a', { limit: 'search' }, () => 'ok')
          .get('/b', { limit: ['search'] }, () => 'ok')
          .get('/c', { limit: PER_MINUTE }, () => 'ok')
        const app = await open(appOf(router))
        expect([...(await statuses(app, 1)), ...(await statuses(app, 2, '/b'))]).to.deep.equal([
          200, 200, 429,
        ])
        expect(await statuses(app, 3, '/c')).to.deep.equal([200, 200, 429])
      })

      it('counts requests of one pattern together', async () => {
        const app = await open(appOf(createRouter().get('/u/:id', { limit: PER_MINUTE }, () => 'ok')))
        const found = [
          await statuses(app, 1, '/u/1'),
          await statuses(app, 1, '/u/2'),
          await statuses(app, 1, '/u/3'),
        ]
        expect(found.flat()).to.deep.equal([200, 200, 429])
      })

      it('takes the limit of its router unless it has its own or false', async () => {
        const router = createRouter({ limit: PER_MINUTE })
          .get('/a', () => 'ok')
          .get('/b', { limit: { ...PER_MINUTE, limit: 1 } }, () => 'ok')
          .get('/c', { limit: false }, () => 'ok')
          .use(createRouter().get('/d', () => 'ok'))
          .use(createRouter({ limit: false }).get('/e', () => 'ok'))
        const app = await open(appOf(router))
        expect(await statuses(app, 3, '/a')).to.deep.equal([200, 200, 429])
        expect(await statuses(app, 3, '/b')).to.deep.equal([200, 429, 429])
        expect(await statuses(app, 3, '/c')).to.deep.equal([200, 200, 200])
        expect(await statuses(app, 3, '/d')).to.deep.equal([200, 200, 429])
        expect(await statuses(app, 3, '/e')).to.deep.equal([200, 200, 200])
      })

      it('runs the middleware around a refusal, so that its headers are on the 429', async () => {
        const seen: unknown[] = []
        const router = createRouter()
          .use(async (ctx, next) => {
            ctx.set('Access-Control-Allow-Origin', '*')
            try {
              return await next()
            } catch (error) {
              seen.push((error as { status: number }).status, ctx.route)
              if (ctx.method === 'GET') throw error
              return { own: 'response' }
            }
          })
          .get('/a', { limit: PER_MINUTE }, () => 'ok')
          .post('/a', { limit: PER_MINUTE }, () => 'ok')
        const app = await open(appOf(router))
        await statuses(app, 2)
        const third = await app.fetch('/a')
        expect([third.status, third.headers.get('access-control-allow-origin')]).to.deep.equal([429, '*'])
        expect(seen).to.deep.equal([429, '/a'])
        await statuses(app, 2, '/a', { method: 'POST' })
        const replaced = await app.fetch('/a', { method: 'POST' })
        expect([replaced.status, await replaced.json()]).to.deep.equal([200, { own: 'response' }])
      })

      it('leaves a route without a limit without headers', async () => {
        const app = await open(appOf(createRouter().get('/a', () => 'ok')))
        const { headers } = await app.fetch('/a')
        expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).to.deep.equal([null, null])
      })
    })
  })

/** Sends the head of a 10 MB upload and some bytes. @returns the status that arrives before the rest is sent. */
function unfinishedUpload(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const upload = request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': 10_000_000, ...bearer('ada') },
    })
    upload.on('response', ({ statusCode }) => {
      resolve(statusCode!)
      upload.destroy()
    })
    upload.on('error', reject)
    upload.write('[1')
  })
}
