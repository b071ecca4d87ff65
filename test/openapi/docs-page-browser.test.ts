import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { chromium, type Browser, type Page } from 'playwright-core'
import { array, number, object, string } from 'yup'
import { docsPage } from '../../src/openapi/docs-page.ts'
import { buildDocument } from '../../src/openapi/document.ts'
import { skipSuite } from '../support/servers.ts'
import { routeOf } from './routes.ts'

const CHROMIUM = process.env.TEST_CHROMIUM ?? '/usr/bin/chromium'
const ARGS =
  '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'
const HOSTILE = '<img src=x onerror="window.hacked = true"><script>window.hacked = true</script>'

const document = buildDocument({
  title: HOSTILE,
  version: '1.0.0',
  description: `About ${HOSTILE}`,
  security: { name: 'bearer', scheme: { type: 'http', scheme: 'bearer' } },
  routes: [
    routeOf('GET /notes/:id', {
      tags: ['notes'],
      summary: 'Read a note',
      description: HOSTILE,
      auth: ['owner'],
      params: object({ id: string().required() }),
      query: object({ tag: array(string().required()), page: number() }),
      headers: object({ 'x-tenant': string() }),
      response: { 200: object({ id: number().required(), title: string().required() }) },
    }),
    routeOf('POST /notes', { tags: ['notes'], body: object({ title: string().required(), size: number() }) }),
    routeOf('GET /files/*path', { summary: HOSTILE }),
    routeOf('GET /', { tags: [HOSTILE] }),
  ],
})

/** The requests that the page sent to the API. */
interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Serves the page with its policy, and the document. Echoes every other request. */
async function serve(received: Received[]): Promise<{ server: Server; origin: string }> {
  const { html, contentSecurityPolicy } = docsPage({ title: 'Notes', documentUrl: '/openapi.json' })
  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.url === '/docs')
      res
        .writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': contentSecurityPolicy })
        .end(html)
    else if (req.url === '/openapi.json') res.end(JSON.stringify(document))
    else {
      const body = (await req.setEncoding('utf8').toArray()).join('')
      received.push({ method: req.method, url: req.url, headers: req.headers, body })
      res
        .writeHead(201, { 'Content-Type': 'application/json', 'X-Answer': 'yes' })
        .end(JSON.stringify({ note: HOSTILE }))
    }
  }
  const server = createServer((req, res) => void answer(req, res))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

describe('documentation page in a browser', () => {
  if (!existsSync(CHROMIUM)) skipSuite(`there is no Chromium at ${CHROMIUM}; TEST_CHROMIUM names another`)

  let browser: Browser
  let server: Server
  let origin: string
  let page: Page
  const received: Received[] = []
  const requested: string[] = []
  const complaints: string[] = []

  before(async function () {
    this.timeout(60_000)
    ;({ server, origin } = await serve(received))
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS.split(' ') })
  })

  after(async () => {
    await browser?.close()
    server.closeAllConnections()
    await once(server.close(), 'close')
  })

  beforeEach(async () => {
    for (const list of [received, requested, complaints]) list.length = 0
    page = await browser.newPage()
    page.setDefaultTimeout(10_000)
    page.on('request', (request) => requested.push(request.url()))
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(`${origin}/docs`)
    await page.waitForSelector('.operation')
  })

  afterEach(async () => {
    const hacked = await page.evaluate('window.hacked')
    await page.close()
    expect(hacked, 'text of the document became markup').to.equal(undefined)
    expect(complaints).to.deep.equal([])
    expect(requested.filter((url) => !url.startsWith(origin) && !url.startsWith('data:'))).to.deep.equal([])
  })

  const operation = (id: string) => page.locator(`[id="op-${id}"]`)

  /** Opens an operation, because its content is built only when it opens. */
  async function open(id: string): Promise<void> {
    await operation(id).locator('> summary').click()
    await operation(id).locator('form').waitFor()
  }

  it('lists the operations by tag, or by first segment without a tag', async () => {
    expect(await page.locator('.group > h2').allTextContents()).to.have.members(['notes', 'files', HOSTILE])
    expect(await page.locator('nav a').count()).to.equal(4)
    expect(await page.locator('h1').textContent()).to.include(HOSTILE)
  })

  it('shows access, parameters, bodies, responses and an example', async () => {
    await open('getNotesById')
    const text = await operation('getNotesById').innerText()
    for (const part of [
      'GET',
      '/notes/{id}',
      'Read a note',
      'owner',
      'x-tenant',
      'array of string',
      '401',
      '403',
      '422',
    ])
      expect(text).to.include(part)
    await open('postNotes')
    await operation('postNotes').getByText('Example').first().click()
    expect(await operation('postNotes').locator('pre').first().textContent()).to.include('"title": "text"')
  })

  it('sends a request with path, query, headers and token, and shows the response', async () => {
    await open('getNotesById')
    await page.getByLabel('Bearer token').fill('secret-token')
    const form = operation('getNotesById').locator('form')
    await form.getByLabel('id (path)').fill('a/b c')
    await form.getByLabel('tag (query)').fill('x, y')
    await form.getByLabel('x-tenant (header)').fill('acme')
    await form.getByRole('button', { name: 'Send' }).click()
    await form.locator('.status').waitFor()
    expect(received).to.have.length(1)
    expect(received[0]!.url).to.equal('/notes/a%2Fb%20c?tag=x&tag=y')
    expect(received[0]!.headers).to.include({ authorization: 'Bearer secret-token', 'x-tenant': 'acme' })
    expect(await form.locator('.status').textContent()).to.include('201')
    expect(await form.locator('.answer').textContent()).to.equal(JSON.stringify({ note: HOSTILE }, null, 2))
  })

  it('sends a JSON body made from the example', async () => {
    await open('postNotes')
    const form = operation('postNotes').locator('form')
    await form.getByRole('button', { name: 'Send' }).click()
    await form.locator('.status').waitFor()
    expect(received[0]).to.deep.include({ method: 'POST', url: '/notes' })
    expect(received[0]!.headers).to.include({ 'content-type': 'application/json' })
    expect(JSON.parse(received[0]!.body)).to.deep.equal({ title: 'text', size: 1 })
  })

  it('keeps the slashes of a catch-all', async () => {
    await open('getFilesByPath')
    const form = operation('getFilesByPath').locator('form')
    await form.getByLabel('path (path)').fill('a/b?.txt')
    await form.getByRole('button', { name: 'Send' }).click()
    await form.locator('.status').waitFor()
    expect(received[0]!.url).to.equal('/files/a/b%3F.txt')
  })

  it('filters the operations', async () => {
    await page.getByLabel('Filter operations').fill('post')
    expect(await page.locator('.operation:visible').count()).to.equal(1)
    expect(await page.locator('.group:visible').count()).to.equal(1)
    await page.getByLabel('Filter operations').fill('')
    expect(await page.locator('.operation:visible').count()).to.equal(4)
  })

  it('opens the operation that its address names', async () => {
    await page.goto(`${origin}/docs#op-postNotes`)
    await page.reload()
    await operation('postNotes').locator('form').waitFor()
    expect(await page.locator('.operation form:visible').count()).to.equal(1)
  })

  it('gives every field a label', async () => {
    await open('getNotesById')
    const nameless = await page
      .locator('input, select, textarea')
      .evaluateAll(
        (fields) =>
          (fields as { labels: { length: number }; getAttribute(name: string): string | null }[]).filter(
            (field) => field.labels.length === 0 && !field.getAttribute('aria-label'),
          ).length,
      )
    expect(nameless).to.equal(0)
  })

  it('says when the document cannot be loaded', async () => {
    await page.route('**/openapi.json', (route) => route.fulfill({ status: 503, body: '' }))
    await page.reload()
    expect(await page.getByRole('alert').textContent()).to.include('503')
    complaints.length = 0
  })
})
