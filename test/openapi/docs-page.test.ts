import { createHash } from 'node:crypto'
import { runInThisContext } from 'node:vm'
import { brotliDecompressSync } from 'node:zlib'
import { expect } from 'chai'
import { createApp } from 'mortar'
import { docsPage } from '../../src/openapi/docs-page.ts'
import { ACCOUNT_VIEW_SCRIPT } from '../../src/openapi/page/account-view-script.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'

const PATHS = { path: '/docs', documentPath: '/openapi.json', scriptPath: '/docs/scalar.js?1' }

describe('documentation page', () => {
  const app = createApp({ environment: 'test', logger: false })

  before(() => app.ready())
  after(() => app.close())

  it('allows scripts and style sheets of one response only, and no other origin', async () => {
    const [first, second] = await Promise.all([app.inject('/docs'), app.inject('/docs')])
    const policy = String(first.headers['content-security-policy'])
    const nonce = /script-src 'nonce-([\w+/=]{20,})';/.exec(policy)![1]!
    expect(policy)
      .to.include("default-src 'none'")
      .and.include(`style-src 'nonce-${nonce}'`)
      .and.include("connect-src 'self'")
      .and.include("frame-ancestors 'none'")
    expect(policy.replace("style-src-attr 'unsafe-inline'", '')).not.to.match(/unsafe|https?:|\*/)
    expect(second.headers['content-security-policy']).not.to.include(nonce)
    expect(first.headers['cache-control']).to.equal('no-store')
    const tags = first.body.match(/<(?:script|style)[ >][^>]*>?/g)!
    expect(tags).to.have.length(4)
    for (const tag of tags) expect(tag).to.include(`nonce="${nonce}"`)
    expect(first.body).not.to.match(/(?:src|href)="(?:https?:)?\/\//)
  })

  it('serves its script from the package, compressed, until it changes', async () => {
    const address = /src="\.(\/docs\/scalar\.js\?[\w-]{16})"/.exec((await app.inject('/docs')).body)![1]!
    const compressed = await app.inject({ url: address, headers: { 'accept-encoding': 'gzip, br' } })
    expect(compressed.headers).to.include({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    })
    expect(compressed.rawPayload.length).to.be.lessThan(1_100_000)
    const known = await app.inject({ url: address, headers: { 'if-none-match': compressed.headers.etag } })
    expect([known.statusCode, known.body]).to.deep.equal([304, ''])
    const plain = await app.inject({ url: address, headers: { 'accept-encoding': 'gzip, br;q=0' } })
    expect(plain.headers).not.to.have.property('content-encoding')
    expect(hashOf(brotliDecompressSync(compressed.rawPayload))).to.equal(hashOf(plain.rawPayload))
  })

  it('finds the fields of the log-in in a component whose name has a dot', () => {
    const bodySchema = runInThisContext(`(() => { ${ACCOUNT_VIEW_SCRIPT} return bodySchema })()`) as (
      ...args: object[]
    ) => unknown
    const schema = { $ref: '#/components/schemas/Log.In' }
    const operation = { requestBody: { content: { 'application/json': { schema } } } }
    const found = { properties: { email: {} } }
    expect(bodySchema({ operation }, { components: { schemas: { 'Log.In': found } } })).to.equal(found)
  })

  it('is off with its script, and has another path by its option', async () => {
    const off = createApp({ environment: 'test', logger: false, openapi: { docs: false } })
    const other = createApp({
      environment: 'test',
      logger: false,
      openapi: { docs: '/api/docs', path: '/api.json' },
    })
    expect((await off.inject('/docs')).statusCode).to.equal(404)
    expect((await off.inject('/docs/scalar.js')).statusCode).to.equal(404)
    expect((await other.inject('/api/docs')).body)
      .to.include('data-document="../api.json"')
      .and.include('data-root=".."')
      .and.include('src="./docs/scalar.js?')
    expect((await other.inject('/api/docs/scalar.js')).statusCode).to.equal(200)
    await Promise.all([off.close(), other.close()])
  })

  it('names the two options that give the document and the page one path', async () => {
    for (const openapi of [{ path: '/docs' }, { docs: '/openapi.json/' }, { path: '/docs/scalar.js' }]) {
      const other = createApp({ environment: 'test', logger: false, openapi })
      const { found, remedy } = await startupErrorOf(() => other.ready())
      expect(found).to.include('(openapi.path)').and.include('(openapi.docs)')
      expect(remedy).to.include('Remove one of the two').and.not.include('loadRoutes')
      await other.close()
    }
  })

  it('escapes title and address of the document', () => {
    const { html } = docsPage(
      { ...PATHS, title: 'Notes & <b>more</b> $&', documentPath: '/a"b.json', isProduction: true },
      'abc',
    )
    expect(html).to.include('<title>Notes &#38; &#60;b&#62;more&#60;/b&#62; $&#38;</title>')
    expect(html).to.include('<span class="title">Notes &#38; &#60;b&#62;more&#60;/b&#62; $&#38;</span>')
    expect(html).to.include('data-document="./a&#34;b.json"')
    expect(html).to.include('data-production="true"')
  })

  it('builds no HTML from strings in its own scripts', () => {
    const { html } = docsPage({ ...PATHS, title: 'API', isProduction: false }, 'abc')
    expect(html).not.to.match(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/)
    expect(html).not.to.match(/\sstyle=|\son[a-z]+=/)
  })
})

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
