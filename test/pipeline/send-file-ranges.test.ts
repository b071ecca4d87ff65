import { expect } from 'chai'
import { assert, asyncProperty, constant, nat, oneof, string, tuple } from 'fast-check'
import { createApp, createRouter, sendFile, type App } from 'mortar'
import { throughBothAdapters, type ServedApp } from '../support/adapters.ts'
import { seedFor } from '../support/seed.ts'

const TEXT = 'abcdefghijklmnopqrstuvwxyz'

const appOf = (text: string): App =>
  createApp({ logger: false }).use(
    createRouter().get('/', (ctx) => sendFile(ctx, Buffer.from(text), { type: 'txt' })),
  )

describe('Ranges of sendFile', () => {
  throughBothAdapters((open) => {
    const serve = (text: string): Promise<ServedApp> => open(appOf(text))

    const ranges: readonly (readonly [string, string | null, string?])[] = [
      ['bytes=0-0', 'bytes 0-0/26', 'a'],
      ['bytes=2-4', 'bytes 2-4/26', 'cde'],
      ['BYTES = 2-4', null],
      ['Bytes= 2-4 ', 'bytes 2-4/26', 'cde'],
      ['bytes=24-', 'bytes 24-25/26', 'yz'],
      ['bytes=24-99', 'bytes 24-25/26', 'yz'],
      ['bytes=-3', 'bytes 23-25/26', 'xyz'],
      ['bytes=-99', 'bytes 0-25/26', TEXT],
      ['bytes=0-1,4-5', null],
      ['bytes=5-4', null],
      ['bytes=-', null],
      ['bytes=a-b', null],
      ['lines=0-1', null],
      ['bytes=26-', 'bytes */26'],
      ['bytes=99-100', 'bytes */26'],
      ['bytes=-0', 'bytes */26'],
      [`bytes=${'9'.repeat(400)}-`, 'bytes */26'],
    ]
    it('sends one range as 206, an unsatisfiable one as 416, and the whole file for any other', async () => {
      const { fetch } = await serve(TEXT)
      for (const [range, expected, text] of ranges) {
        const response = await fetch('/', { headers: { Range: range } })
        const body = await response.text()
        expect(response.headers.get('content-range'), range).to.equal(expected)
        if (expected === null) expect([response.status, body], range).to.deep.equal([200, TEXT])
        else if (text !== undefined) {
          expect([response.status, body], range).to.deep.equal([206, text])
          expect(response.headers.get('content-length'), range).to.equal(String(text.length))
        } else {
          expect(response.status, range).to.equal(416)
          expect(JSON.parse(body), range).to.include({ code: 'range_not_satisfiable' })
          expect(response.headers.get('etag'), range).to.equal(null)
        }
      }
    })

    it('ignores a range with HEAD, and for an empty file without one', async () => {
      const { fetch } = await serve(TEXT)
      const head = await fetch('/', { method: 'HEAD', headers: { Range: 'bytes=0-1' } })
      expect([head.status, head.headers.get('content-length')]).to.deep.equal([200, '26'])
      const empty = await serve('')
      const response = await empty.fetch('/')
      expect([response.status, response.headers.get('content-length')]).to.deep.equal([200, '0'])
      expect((await empty.fetch('/', { headers: { Range: 'bytes=0-' } })).status).to.equal(416)
    })
  })

  it('has the bytes of any range, or all of them', async () => {
    const app = appOf(TEXT)
    const position = oneof(constant(''), nat(40).map(String), constant('01'), constant('x'))
    const range = oneof(
      { weight: 4, arbitrary: tuple(position, position).map(([first, last]) => `bytes=${first}-${last}`) },
      string(),
    )
    await assert(
      asyncProperty(range, async (header) => {
        const { statusCode, body, headers } = await app.inject({ url: '/', headers: { range: header } })
        expect(statusCode).to.be.oneOf([200, 206, 416])
        const [, first, last] = /^bytes (\d+)-(\d+)\/26$/.exec(String(headers['content-range'])) ?? []
        if (statusCode === 416) expect(headers['content-range']).to.equal('bytes */26')
        else expect(headers['content-length']).to.equal(String(body.length))
        if (statusCode === 200) expect(body).to.equal(TEXT)
        if (statusCode === 206)
          expect(body)
            .to.equal(TEXT.slice(Number(first), Number(last) + 1))
            .and.not.equal('')
      }),
      { seed: seedFor('ranges of files'), numRuns: 150 },
    )
    await app.close()
  })
})
