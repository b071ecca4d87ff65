import { expect } from 'chai'
import { isSameOrigin } from 'mortar/kit'

describe('isSameOrigin', () => {
  const HOST = 'app.example'
  const TRUSTED = ['https://spa.example', 'https://other.example:8443/']

  type Sent = Record<string, string | string[]>

  /** A context with these headers; Node joins the values of a header that was sent twice. */
  const sent = (method: string, headers: Sent, isSecure = () => false) => ({
    method,
    get: (name: string) => (name in headers ? [headers[name]].flat().join(', ') : undefined),
    koa: {
      get secure() {
        return isSecure()
      },
    },
  })

  type Row = readonly [headers: Sent, allowed: boolean]
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
    'an origin that is not a URL': [{ origin: 'app.example' }, false],
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
        expect(isSameOrigin(sent(method, { host: HOST, ...headers }), TRUSTED)).to.equal(allowed)
      })

  it('lets safe methods pass from any origin', () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'get'])
      expect(isSameOrigin(sent(method, { 'sec-fetch-site': 'cross-site', origin: 'null' }), [])).to.equal(
        true,
      )
  })

  it('refuses the own host over http for a request over https, and asks for the scheme of no other request', () => {
    const statusOf = (origin: string, isSecure: () => boolean) =>
      isSameOrigin(sent('POST', { host: HOST, origin }, isSecure))
    for (const isHttps of [true, false])
      expect(
        [`http://${HOST}`, `https://${HOST}`].map((origin) => statusOf(origin, () => isHttps)),
      ).to.deep.equal([!isHttps, true])
    const never = () => {
      throw new Error('asked')
    }
    expect([statusOf(`https://${HOST}`, never), statusOf('http://evil.example', never)]).to.deep.equal([
      true,
      false,
    ])
  })

  it('can judge a request as one of another method', () => {
    const foreign = sent('GET', { host: HOST, origin: 'https://evil.example' })
    expect([isSameOrigin(foreign), isSameOrigin(foreign, [], 'POST')]).to.deep.equal([true, false])
  })

  it('refuses an origin if there is no host to compare it with', () => {
    expect(isSameOrigin(sent('POST', { origin: 'https://app.example' }), [])).to.equal(false)
  })

  it('refuses an entry of the list that is not an origin', () => {
    for (const entry of ['null', '*', '', 'spa.example', 'data:text/html,x'])
      for (const origin of ['null', 'https://evil.example', 'data:text/html,x', ''])
        expect(isSameOrigin(sent('POST', { host: HOST, origin }), [entry])).to.equal(false)
  })
})
