import { expect } from 'chai'
import {
  createRefreshCookie,
  isSameOrigin,
  type RefreshCookieOptions,
} from '../../../../plugins/auth/cookies.ts'

const THIRTY_DAYS = 30 * 86_400

function written(options: Partial<RefreshCookieOptions>, write: 'set' | 'clear' = 'set'): string {
  const headers: [string, string][] = []
  const cookie = createRefreshCookie({ environment: 'development', lifetime: THIRTY_DAYS, ...options })
  const ctx = { append: (name: string, value: string): unknown => headers.push([name, value]) }
  if (write === 'set') cookie.set(ctx, 'token')
  else cookie.clear(ctx)
  expect(headers).to.have.lengthOf(1)
  expect(headers[0]![0]).to.equal('Set-Cookie')
  return headers[0]![1]
}

const SECURE = '__Host-mortar_refresh=token; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax; Secure'
const PLAIN = 'mortar_refresh=token; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax'

describe('the refresh cookie', () => {
  const MATRIX: [Partial<RefreshCookieOptions>, string][] = [
    [{ environment: 'production' }, SECURE],
    [{ environment: 'production', appUrl: 'http://app.example' }, SECURE],
    [{ environment: 'development' }, PLAIN],
    [{ environment: 'test' }, PLAIN],
    [{ environment: 'development', appUrl: 'http://localhost:3000' }, PLAIN],
    [{ environment: 'development', appUrl: 'https://dev.example' }, SECURE],
    [{ environment: 'test', appUrl: 'HTTPS://test.example' }, SECURE],
    [{ environment: 'development', secure: true }, SECURE],
    [{ environment: 'production', secure: false }, PLAIN],
  ]
  for (const [options, header] of MATRIX)
    it(`is ${header === SECURE ? 'Secure with __Host-' : 'plain'} for ${JSON.stringify(options)}`, () => {
      expect(written(options)).to.equal(header)
    })

  it('is cleared with the name and the attributes with which it was set', () => {
    for (const [options, header] of MATRIX)
      expect(written(options, 'clear')).to.equal(header.replace('=token; Max-Age=2592000', '=; Max-Age=0'))
  })

  it('never has a domain', () => {
    for (const [options] of MATRIX) expect(written(options)).to.not.match(/domain/i)
  })

  const cookie = createRefreshCookie({ environment: 'production', lifetime: 1 })
  const READ: Record<string, readonly [string | string[] | undefined, string | null]> = {
    'no header': [undefined, null],
    'an empty header': ['', null],
    'the cookie alone': ['__Host-mortar_refresh=abc.def', 'abc.def'],
    'the cookie among others': ['a=1; __Host-mortar_refresh=abc; b=2', 'abc'],
    'the cookie without spaces around': ['a=1;__Host-mortar_refresh=abc;b=2', 'abc'],
    'a value with =': ['__Host-mortar_refresh=a=b', 'a=b'],
    'two headers': [['a=1', '__Host-mortar_refresh=abc'], 'abc'],
    'the same value twice': ['__Host-mortar_refresh=abc; __Host-mortar_refresh=abc', 'abc'],
    'two values, one of them tossed in by a neighbour': [
      '__Host-mortar_refresh=evil; __Host-mortar_refresh=abc',
      null,
    ],
    'the name without its prefix': ['mortar_refresh=evil', null],
    'the name in another case': ['__HOST-mortar_refresh=evil; __host-Mortar_Refresh=evil', null],
    'the name as the end of another': ['x__Host-mortar_refresh=evil', null],
    'the name as the beginning of another': ['__Host-mortar_refresh2=evil', null],
    'the name inside the value of a nameless cookie': ['=__Host-mortar_refresh=evil', null],
    'the name inside a value': ['a=__Host-mortar_refresh=evil', null],
    'the name with a quote': ['"__Host-mortar_refresh"=evil', null],
    'the name with a comma in front': ['a=1,__Host-mortar_refresh=evil', null],
    'an empty value': ['__Host-mortar_refresh=', null],
    'the name without =': ['__Host-mortar_refresh', null],
    'the name encoded': ['__Host-mortar%5Frefresh=evil', null],
  }
  for (const [name, [header, value]] of Object.entries(READ))
    it(`${value === null ? 'is not found' : 'is read'} in ${name}`, () => {
      expect(cookie.read({ cookie: header })).to.equal(value)
    })
})

describe('isSameOrigin', () => {
  const HOST = 'app.example'
  const TRUSTED = ['https://spa.example', 'https://other.example:8443/']

  type Row = readonly [headers: Record<string, string | string[]>, allowed: boolean]
  const UNSAFE: Record<string, Row> = {
    'neither header, as no browser sends it': [{}, true],
    'Sec-Fetch-Site: same-origin': [{ 'sec-fetch-site': 'same-origin' }, true],
    'Sec-Fetch-Site: none': [{ 'sec-fetch-site': 'none' }, true],
    'Sec-Fetch-Site: same-site': [{ 'sec-fetch-site': 'same-site' }, false],
    'Sec-Fetch-Site: cross-site': [{ 'sec-fetch-site': 'cross-site' }, false],
    'an empty Sec-Fetch-Site': [{ 'sec-fetch-site': '' }, false],
    'an unknown Sec-Fetch-Site': [{ 'sec-fetch-site': 'Same-Origin' }, false],
    'Sec-Fetch-Site twice': [{ 'sec-fetch-site': 'same-origin, cross-site' }, false],
    'cross-site with the own origin': [
      { 'sec-fetch-site': 'cross-site', origin: 'https://app.example' },
      false,
    ],
    'cross-site with a trusted origin': [
      { 'sec-fetch-site': 'cross-site', origin: 'https://spa.example' },
      true,
    ],
    'same-site with a trusted origin': [
      { 'sec-fetch-site': 'same-site', origin: 'https://spa.example' },
      true,
    ],
    'same-origin with a foreign origin': [
      { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
      true,
    ],
    'the own origin': [{ origin: 'https://app.example' }, true],
    'the own origin over http': [{ origin: 'http://app.example' }, true],
    'the own origin with its default port': [{ origin: 'https://app.example:443' }, true],
    'the own host on another port': [{ origin: 'https://app.example:8443' }, false],
    'a foreign origin': [{ origin: 'https://evil.example' }, false],
    'an origin that begins alike': [{ origin: 'https://app.example.evil.example' }, false],
    'an origin that ends alike': [{ origin: 'https://evil-app.example' }, false],
    'the own host as user of another': [{ origin: 'https://app.example@evil.example' }, false],
    'a sub-domain': [{ origin: 'https://x.app.example' }, false],
    'the origin null': [{ origin: 'null' }, false],
    'an empty origin': [{ origin: '' }, false],
    'an origin that is no URL': [{ origin: 'app.example' }, false],
    'an origin of another scheme': [{ origin: 'ftp://app.example' }, false],
    'the scheme of an extension': [{ origin: 'chrome-extension://app.example' }, false],
    'two origins': [{ origin: ['https://app.example', 'https://evil.example'] }, false],
    'two origins in one header': [{ origin: 'https://app.example, https://evil.example' }, false],
    'a trusted origin': [{ origin: 'https://spa.example' }, true],
    'a trusted origin in capitals': [{ origin: 'HTTPS://SPA.EXAMPLE' }, true],
    'a trusted origin with a port': [{ origin: 'https://other.example:8443' }, true],
    'a trusted origin on another port': [{ origin: 'https://spa.example:444' }, false],
    'a trusted origin over http': [{ origin: 'http://spa.example' }, false],
  }

  for (const [name, [headers, allowed]] of Object.entries(UNSAFE))
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'post', 'PROPFIND'])
      it(`${allowed ? 'lets' : 'refuses'} ${method} with ${name}`, () => {
        expect(isSameOrigin({ method, headers: { host: HOST, ...headers } }, TRUSTED)).to.equal(allowed)
      })

  it('lets safe methods pass wherever they come from', () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'get'])
      expect(
        isSameOrigin({ method, headers: { 'sec-fetch-site': 'cross-site', origin: 'null' } }, []),
      ).to.equal(true)
  })

  it('refuses an origin when there is no host to compare it with', () => {
    expect(isSameOrigin({ method: 'POST', headers: { origin: 'https://app.example' } }, [])).to.equal(false)
  })

  it('trusts nobody whose entry in the list is no origin', () => {
    for (const entry of ['null', '*', '', 'spa.example', 'data:text/html,x'])
      for (const origin of ['null', 'https://evil.example', 'data:text/html,x', ''])
        expect(isSameOrigin({ method: 'POST', headers: { host: HOST, origin } }, [entry])).to.equal(false)
  })
})
