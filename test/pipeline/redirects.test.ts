import { expect } from 'chai'
import { createApp, createRouter } from 'mortar'
import { throughBothAdapters } from '../support/adapters.ts'

const addresses: readonly (readonly [string, string])[] = [
  ['/plain', '/plain'],
  ['https://app.example.com/a?b=c#d', 'https://app.example.com/a?b=c#d'],
  ['/kept/a%2Fb?next=%2Fhome%3Fx%3D1', '/kept/a%2Fb?next=%2Fhome%3Fx%3D1'],
  ['/once/%25', '/once/%25'],
  ['/half%E0%A4', '/half%E0%A4'],
  ['/bare%', '/bare%25'],
  ['/bare%zz', '/bare%25zz'],
  ['http://[::1]:3000/x', 'http://[::1]:3000/x'],
  ['/café and "more"', '/caf%C3%A9%20and%20%22more%22'],
  ['/😀', '/%F0%9F%98%80'],
  ['/\ud800', '/%EF%BF%BD'],
  ['/a\r\nSet-Cookie: b=1', '/a%0D%0ASet-Cookie:%20b=1'],
  ['/\0', '/%00'],
  ['/\\evil.example', '/%5Cevil.example'],
  ['', ''],
]

describe('A redirect', () => {
  throughBothAdapters((open) => {
    it('keeps existing escapes and escapes characters that a URL cannot contain', async () => {
      const router = createRouter()
      for (const [index, [address]] of addresses.entries())
        router.get(`/${index}`, (ctx) => ctx.redirect(address))
      const { fetch } = await open(createApp().use(router))
      for (const [index, [address, location]] of addresses.entries()) {
        const response = await fetch(`/${index}`)
        expect(response.status, address).to.equal(302)
        expect(response.headers.get('location'), address).to.equal(location)
        expect(response.headers.get('set-cookie')).to.equal(null)
      }
    })

    it('accepts only the status of a redirect', async () => {
      const statuses = [200, 299, 300, 301, 303, 307, 308, 399, 400]
      const router = createRouter()
      for (const status of statuses) router.get(`/${status}`, (ctx) => ctx.redirect('/there', status))
      const { fetch } = await open(createApp({ logger: false }).use(router))
      const answers = await Promise.all(statuses.map(async (status) => (await fetch(`/${status}`)).status))
      expect(answers).to.deep.equal([500, 500, 300, 301, 303, 307, 308, 399, 500])
    })
  })
})
