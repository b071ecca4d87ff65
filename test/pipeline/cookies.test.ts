import { expect } from 'chai'
import { createApp, createRouter, fromKoa, StartupError, type AppOptions, type Context } from 'mortar'
import { createCookieCipher } from '../../src/context/cookie-cipher.ts'
import { throughBothAdapters } from '../support/adapters.ts'

const KEY = 'k1-0123456789abcdefghijklmnopqrstuvwxyz'
const OTHER = 'k2-0123456789abcdefghijklmnopqrstuvwxyz'

/** The cookies that a response sets, by name, as a browser sends them back. */
function cookiesOf(response: Response): Map<string, string> {
  const pairs = response.headers.getSetCookie().map((line) => line.split(';')[0]!)
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}

function headerOf(cookies: ReadonlyMap<string, string>): { cookie: string } {
  return { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
}

const routes = () =>
  createRouter()
    .get('/plain', (ctx) => void ctx.cookies.set('plain', 'v'))
    .get('/strict', (ctx) => void ctx.cookies.set('plain', 'v', { sameSite: 'strict', httpOnly: false }))
    .get('/remove', (ctx) => void ctx.cookies.set('plain'))
    .get('/remove-sealed', (ctx) => void ctx.cookies.set('plain', '', { encrypted: true }))
    .get('/signed', (ctx) => void ctx.cookies.set('cart', 'seven', { signed: true }))
    .get('/sealed', (ctx) => void ctx.cookies.set('prefs', 'dark ü;=', { encrypted: true }))
    .get('/cart', (ctx) => ctx.cookies.get('cart', { signed: true }))
    .get('/both', (ctx) => void ctx.cookies.set('prefs', 'dark', { signed: true, encrypted: true }))
    .get('/read-both', (ctx) => ctx.cookies.get('prefs', { signed: true, encrypted: true }))
    .get('/unset', (ctx) => {
      const unset = { sameSite: 'none', maxAge: undefined, samesite: undefined, maxage: 1000 } as const
      ctx.cookies.set('plain', 'v', unset)
    })
    .get('/read', (ctx: Context) => ({
      plain: ctx.cookies.get('plain'),
      cart: ctx.cookies.get('cart', { signed: true }),
      prefs: ctx.cookies.get('prefs', { encrypted: true }),
    }))

const app = (options: AppOptions = {}) => createApp({ logger: false, ...options }).use(routes())

describe('ctx.cookies', () => {
  throughBothAdapters((open) => {
    const read = async (served: Awaited<ReturnType<typeof open>>, cookies: ReadonlyMap<string, string>) => {
      const response = await served.fetch('/read', { headers: headerOf(cookies) })
      expect(response.status).to.equal(200)
      return (await response.json()) as Record<string, string>
    }

    it('are SameSite=Lax and HttpOnly unless the options say otherwise', async () => {
      const served = await open(app())
      const lines = async (path: string) => (await served.fetch(path)).headers.getSetCookie().join()
      expect(await lines('/plain')).to.equal('plain=v; path=/; samesite=lax; httponly')
      expect(await lines('/strict')).to.equal('plain=v; path=/; samesite=strict')
      expect(await lines('/remove')).to.match(/^plain=; path=\/; expires=Thu, 01 Jan 1970/)
    })

    it('are read if their signature is valid, and ignored if they were changed', async () => {
      const served = await open(app({ keys: [KEY] }))
      const cookies = cookiesOf(await served.fetch('/signed'))
      expect([...cookies.keys()]).to.deep.equal(['cart', 'cart.sig'])
      expect((await read(served, cookies))['cart']).to.equal('seven')
      expect((await read(served, new Map(cookies).set('cart', 'eight')))['cart']).to.equal(undefined)
      expect((await read(served, new Map([['cart', 'seven']])))['cart']).to.equal(undefined)
    })

    it('are read if they are encrypted, and do not show their value', async () => {
      const served = await open(app({ keys: [KEY] }))
      const cookies = cookiesOf(await served.fetch('/sealed'))
      expect([...cookies.keys()]).to.deep.equal(['prefs'])
      expect(Buffer.from(cookies.get('prefs')!, 'base64url').toString()).not.to.contain('dark')
      expect((await read(served, cookies))['prefs']).to.equal('dark ü;=')
      for (const forged of ['', 'dark', 'A'.repeat(60), cookies.get('prefs')!.slice(0, -4)])
        expect((await read(served, new Map([['prefs', forged]])))['prefs'], forged).to.equal(undefined)
    })

    it('are removed by an empty value, also if they are encrypted', async () => {
      const served = await open(app({ keys: [KEY] }))
      const lines = (await served.fetch('/remove-sealed')).headers.getSetCookie()
      expect(lines.join()).to.match(/^plain=; path=\/; expires=Thu, 01 Jan 1970/)
    })

    it('keep the keys that the application was created with', async () => {
      const keys = [KEY]
      const served = await open(app({ keys }))
      keys[0] = OTHER
      const cookies = cookiesOf(await served.fetch('/signed'))
      expect((await read(await open(app({ keys: [KEY] })), cookies))['cart']).to.equal('seven')
    })

    it('accept an older key of the list, and no other key', async () => {
      const before = await open(app({ keys: [OTHER] }))
      const cookies = new Map([
        ...cookiesOf(await before.fetch('/signed')),
        ...cookiesOf(await before.fetch('/sealed')),
      ])
      const during = await read(await open(app({ keys: [KEY, OTHER] })), cookies)
      expect([during['cart'], during['prefs']]).to.deep.equal(['seven', 'dark ü;='])
      const after = await read(await open(app({ keys: [KEY] })), cookies)
      expect([after['cart'], after['prefs']]).to.deep.equal([undefined, undefined])
    })

    it('are signed and encrypted with the first key, in one cookie if they are both', async () => {
      const served = await open(app({ keys: [KEY, OTHER] }))
      const both = cookiesOf(await served.fetch('/both'))
      expect([...both.keys()]).to.deep.equal(['prefs'])
      const value = await served.fetch('/read-both', { headers: headerOf(both) })
      expect(await value.text()).to.equal('dark')
      expect((await read(await open(app({ keys: [KEY] })), both))['prefs']).to.equal('dark')
      const signed = cookiesOf(await served.fetch('/signed'))
      expect((await read(await open(app({ keys: [KEY] })), signed))['cart']).to.equal('seven')
    })

    it('ignore options that are undefined', async () => {
      const response = await (await open(app())).fetch('/unset')
      expect(response.status).to.equal(204)
      expect(response.headers.getSetCookie().join()).to.match(/^plain=v; .*samesite=none/)
    })

    it('cause a 500 that names the option if no keys are configured', async () => {
      const served = await open(app())
      for (const path of ['/signed', '/sealed', '/read']) {
        const response = await served.fetch(path)
        expect(response.status).to.equal(500)
        expect(await response.text()).to.contain('createApp({ keys')
      }
    })

    it('have the same signatures as those of Koa', async () => {
      const shared = app({ keys: [KEY] }).use(
        createRouter()
          .use(fromKoa((koa) => void (koa.body = { cart: koa.cookies.get('cart', { signed: true }) })))
          .get('/koa', () => 'never'),
      )
      const served = await open(shared)
      expect(shared.koa.keys).to.deep.equal([KEY])
      const headers = headerOf(cookiesOf(await served.fetch('/signed')))
      expect(await (await served.fetch('/koa', { headers })).json()).to.deep.equal({ cart: 'seven' })
    })

    it('use app.koa.keys if the application set it, also beside the option keys', async () => {
      const signed = cookiesOf(await (await open(app({ keys: [KEY] }))).fetch('/signed'))
      for (const own of [app(), app({ keys: [OTHER] })]) {
        own.koa.keys = [KEY]
        const served = await open(own)
        expect(cookiesOf(await served.fetch('/signed'))).to.deep.equal(signed)
        expect((await read(served, signed))['cart']).to.equal('seven')
      }
    })

    it('are signed by a Keygrip, which cannot encrypt', async () => {
      const own = app()
      const sign = (text: string): string => Buffer.from(text).toString('base64url')
      const index = (text: string, signature: string): number => (sign(text) === signature ? 0 : -1)
      const verify = (text: string, signature: string): boolean => index(text, signature) === 0
      Object.assign(own.koa, { keys: { sign, index, verify } })
      const served = await open(own)
      const sent = headerOf(cookiesOf(await served.fetch('/signed')))
      expect(await (await served.fetch('/cart', { headers: sent })).text()).to.equal('seven')
      const sealed = await served.fetch('/sealed')
      expect([sealed.status, await sealed.text()].join(' ')).to.match(/^500 .*app\.koa\.keys is not a list/)
    })
  })
})

describe('The option keys', () => {
  const weak = ['short', 'a'.repeat(40), 'change-me']

  it('rejects a weak key in production, warns in development, and shows no key', () => {
    for (const key of weak) {
      const warnings: string[] = []
      const logger = {
        debug() {},
        info() {},
        warn: (text: unknown) => void warnings.push(String(text)),
        error() {},
        child: () => logger,
      }
      expect(() => createApp({ environment: 'production', keys: [KEY, key] }), key)
        .to.throw(StartupError, 'MORTAR_COOKIE_KEYS')
        .with.property('message')
        .that.contains('at position 2')
        .and.does.not.contain(key)
      createApp({ environment: 'development', logger, keys: [key] })
      expect(warnings.join()).to.contain('keys').and.not.to.contain(key)
    }
    expect(() => createApp({ environment: 'production', keys: [KEY] })).to.not.throw()
  })

  it('rejects a value that is not a list of strings', () => {
    for (const keys of [[], [''], 'key', [7]])
      expect(() => createApp({ keys: keys as string[] }), JSON.stringify(keys)).to.throw(StartupError, 'keys')
  })
})

describe('The encryption of cookies', () => {
  it('rejects the value of another cookie', () => {
    const cipher = createCookieCipher([KEY])
    expect(cipher.open('a', cipher.seal('a', 'x'))).to.equal('x')
    expect(cipher.open('b', cipher.seal('a', 'x'))).to.equal(undefined)
  })

  it('rejects a value of any length that is too short', () => {
    const cipher = createCookieCipher([KEY])
    for (let length = 0; length <= 28; length++)
      expect(cipher.open('a', Buffer.alloc(length).toString('base64url')), String(length)).to.equal(undefined)
  })

  it('never produces the same bytes twice', () => {
    const cipher = createCookieCipher([KEY])
    expect(cipher.seal('a', 'x')).not.to.equal(cipher.seal('a', 'x'))
  })

  it('still decrypts values of an earlier version', () => {
    const sealed = 'Y-9wSpOpheRAX_k7_Fr9EIL_4ftZqBxpCRjHsb_yWlI'
    expect(createCookieCipher([KEY]).open('prefs', sealed)).to.equal('dark')
  })

  it('rejects a value with any byte changed', () => {
    const cipher = createCookieCipher([KEY])
    const bytes = Buffer.from(cipher.seal('a', 'value'), 'base64url')
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes)
      changed[index]! ^= 1
      expect(cipher.open('a', changed.toString('base64url')), String(index)).to.equal(undefined)
    }
  })
})
