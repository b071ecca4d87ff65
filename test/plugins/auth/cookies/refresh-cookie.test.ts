import { expect } from 'chai'
import {
  createRefreshCookie,
  type RefreshCookieOptions,
} from '../../../../plugins/auth/cookies/refresh-cookie.ts'

const THIRTY_DAYS = 30 * 86_400

function written(options: Partial<RefreshCookieOptions>, write: 'set' | 'clear' = 'set'): string {
  const headers: [string, string][] = []
  const cookie = createRefreshCookie({ environment: 'development', ...options })
  const ctx = { append: (name: string, value: string): unknown => headers.push([name, value]) }
  if (write === 'set') cookie.set(ctx, 'token', THIRTY_DAYS)
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
    [{ environment: 'development', appUrl: 'http://https.example/https:' }, PLAIN],
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

  const cookie = createRefreshCookie({ environment: 'production' })
  const READ: Record<string, readonly [string | string[] | undefined, string | null]> = {
    'no header': [undefined, null],
    'an empty header': ['', null],
    'the cookie alone': ['__Host-mortar_refresh=abc.def', 'abc.def'],
    'the cookie among others': ['a=1; __Host-mortar_refresh=abc; b=2', 'abc'],
    'the cookie without spaces around': ['a=1;__Host-mortar_refresh=abc;b=2', 'abc'],
    'spaces and tabs around name and value': [' \t__Host-mortar_refresh\t = \tabc \t', 'abc'],
    'a no-break space in front of the name': ['\u00a0__Host-mortar_refresh=evil', null],
    'a no-break space behind the name': ['__Host-mortar_refresh\u00a0=evil', null],
    'a vertical tab or form feed in front of the name': [
      '\v__Host-mortar_refresh=evil; \f__Host-mortar_refresh=evil',
      null,
    ],
    'the real cookie beside one with a no-break space': [
      '\u00a0__Host-mortar_refresh=evil; __Host-mortar_refresh=abc',
      'abc',
    ],
    'a value and an empty one': ['__Host-mortar_refresh=abc; __Host-mortar_refresh=', null],
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
