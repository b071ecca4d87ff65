import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { boolean, number, object, string } from 'yup'
import { createApp, createRouter, file } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as schema from '@mortar/auth/basic/schema'
import { database } from '@mortar/database'
import { launchChromium, needChromium, watch, type Watched } from '../support/chromium.ts'

const HOSTILE = '<img src="data:," onerror="window.hacked = true"><script>window.hacked = true</script>'

/** Ends the stream of `/events`; the response has begun by then. */
let endEvents: () => void = () => undefined

const routes = createRouter({ tags: ['trial'] })
  .get('/mine', { auth: true, response: { 200: object({ id: string().required() }) } }, ({ user }) => ({
    id: user.id,
  }))
  .get(
    '/search',
    {
      summary: HOSTILE,
      query: object({ sort: string().oneOf(['up', 'down']).default('down'), page: number().default(3) }),
    },
    ({ query }) => query,
  )
  .post(
    '/upload',
    {
      body: object({ file: file().required() }),
      response: { 201: object({ size: number().required(), wasRead: boolean() }) },
    },
    (ctx) => {
      ctx.status = 201
      return { size: ctx.body.file.size }
    },
  )
  .get('/events', { response: { 200: { type: 'text/event-stream' } } }, (ctx) => {
    ctx.type = 'text/event-stream'
    return events()
  })

async function* events(): AsyncGenerator<string> {
  yield 'data: first\n\n'
  await new Promise<void>((resolve) => {
    endEvents = resolve
  })
  yield 'data: last\n\n'
}

function trialApp() {
  return createApp({ environment: 'test', logger: false, openapi: { title: HOSTILE, description: HOSTILE } })
    .use(database({ type: 'better-sqlite3', database: ':memory:', entities: schema, synchronize: true }))
    .use(
      auth(
        basicAuth({
          db: ({ db }) => db,
          secret: 'kQ2v8yB1tW9mZ4xC7nL0pR5sD3fG6hJa',
          cost: { memory: 1024, passes: 1, parallelism: 1 },
        }),
      ),
    )
    .use(routes)
}

describe('documentation page in a browser', function () {
  needChromium()

  const app = trialApp()
  let browser: Browser
  let page: Page
  let origin: string
  let watched: Watched

  before(async () => {
    ;[browser, { url: origin }] = await Promise.all([launchChromium(), app.listen(0, '127.0.0.1')])
    page = await browser.newPage()
    // The script of the page is large, and a browser on a busy machine takes long to compile it.
    page.setDefaultTimeout(60_000)
    watched = watch(page)
    await page.goto(`${origin}/docs`)
    await page.getByRole('button', { name: 'New test user' }).waitFor()
  })

  after(async () => {
    endEvents()
    await browser?.close()
    await app.close()
  })

  afterEach(async () => {
    expect(await page.evaluate('window.hacked'), 'text of the document became markup').to.equal(undefined)
    expect(watched.complaints).to.deep.equal([])
    const foreign = watched.requested.filter((url) => !url.startsWith(origin) && !/^(data|blob):/.test(url))
    expect(foreign).to.deep.equal([])
  })

  /** Opens the form of an operation. */
  async function open(tag: string, operation: string): Promise<void> {
    const [method, path] = operation.split(' ') as [string, string]
    await page.evaluate(`location.hash = ${JSON.stringify(`#tag/${tag}/${method}${path}`)}`)
    const name = new RegExp(`Test Request.*${method} ${path}\\)`, 'i')
    await page.getByRole('button', { name }).click()
    await send().waitFor()
  }
  const send = () => page.getByRole('button', { name: /^Send .*request/ })
  const close = () => page.getByRole('button', { name: 'Close Client' }).last().click()
  const shown = (text: string | RegExp) => page.getByRole('dialog').getByText(text).first().waitFor()
  const account = () => page.locator('#account output')

  /** Sends the open form and returns the response. */
  async function sent(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
    const [response] = await Promise.all([
      page.waitForResponse((candidate) => candidate.url().startsWith(origin + path)),
      send().click(),
    ])
    return { status: response.status(), body: (await response.json()) as Record<string, unknown> }
  }

  it('has a sign-up whose prefilled body is accepted, and uses the token of the response', async () => {
    await open('auth', 'POST /auth/signup')
    expect((await sent('/auth/signup')).status).to.equal(201)
    await close()
    await page.getByRole('button', { name: 'Log out' }).waitFor()
    expect(await account().textContent()).to.equal('ada@example.com')
    await open('trial', 'GET /mine')
    expect((await sent('/mine')).status).to.equal(200)
    await close()
  })

  it('stays signed in after a reload, without a token in a storage', async () => {
    await page.reload()
    await page.getByText('ada@example.com').waitFor()
    const stored = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    )
    expect(stored).to.equal('[{},{"mortar.docs.signed-in":"ada@example.com"},""]')
    await open('trial', 'GET /mine')
    expect((await sent('/mine')).status).to.equal(200)
    await close()
  })

  it('logs out, logs in by its form and makes a test user in one click', async () => {
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByLabel('email').fill('ada@example.com')
    await page.getByLabel('password').fill('brisk-Otter-paints-42-kites')
    await page.getByRole('dialog').getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('button', { name: 'New test user' }).click()
    await page.getByText(/^ada-\w+@example\.com$/).waitFor()
    expect(watched.requested.filter((url) => url.endsWith('/auth/logout'))).to.have.length(2)
  })

  it('fills in defaults, offers the values of an enum and shows a sample', async () => {
    await open('trial', 'GET /search')
    expect((await sent('/search')).body).to.deep.equal({ sort: 'down', page: 3 })
    await page.getByRole('dialog').getByRole('button', { name: 'down', exact: true }).click()
    await page.getByText('up', { exact: true }).click()
    expect((await sent('/search')).body).to.deep.equal({ sort: 'up', page: 3 })
    await close()
    expect(await page.getByText('curl').first().isVisible()).to.equal(true)
  })

  it('sends a file', async () => {
    await open('trial', 'POST /upload')
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page
        .getByRole('dialog')
        .getByRole('button', { name: /Select File/ })
        .first()
        .click(),
    ])
    await chooser.setFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('seven b') })
    await shown('a.txt')
    expect(await sent('/upload')).to.deep.equal({ status: 201, body: { size: 7 } })
    await close()
  })

  it('shows an event stream while it arrives', async () => {
    await open('trial', 'GET /events')
    await send().click()
    await shown(/data: first/)
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).waitFor()
    endEvents()
    await shown(/data: last/)
    await close()
  })

  it('says when the document or the script cannot be loaded', async () => {
    await page.route('**/openapi.json', (route) => route.fulfill({ status: 503, body: '' }))
    await page.reload()
    expect(await page.getByRole('alert').textContent()).to.include('503')
    await page.unroute('**/openapi.json')
    await page.route('**/scalar.js*', (route) => route.abort())
    await page.reload()
    expect(await page.getByRole('alert').textContent()).to.include('The script of this page cannot be loaded')
    watched.complaints.length = 0
  })
})
