import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import type { Browser, Locator, Page } from 'playwright-core'
import { launchChromium, needChromium } from '../../support/chromium.ts'
import { startMailApp } from './mail-app.ts'

/** The elements of the hostile message that can be clicked. */
const LINKS = ['script-link', 'data-link', 'top-link', 'blank-link', 'ping-link', 'download-link', 'submit']

/** Clicks with the mouse. The effects in the browser are observed elsewhere. */
const pressed = (locator: Locator) => locator.click({ force: true, timeout: 120_000 })

describe('The mail page in a browser', function () {
  needChromium()

  let browser: Browser
  let page: Page
  let app: Awaited<ReturnType<typeof startMailApp>>
  let base: string
  /** A host that hostile messages contact, and the requests that reached it. */
  let outside: Server
  let calls: string[]
  /** Observed escapes: dialogs, errors, popups, navigations of the page. */
  let escapes: string[]

  before(async () => {
    browser = await launchChromium()
  })
  after(async () => browser?.close())

  beforeEach(async () => {
    calls = []
    escapes = []
    outside = createServer((request, response) => {
      calls.push(request.url ?? '')
      response.end('<script>top.document.title = "taken"</script>')
    }).listen(0, '127.0.0.1')
    await once(outside, 'listening')
    app = await startMailApp({}, { environment: 'development' })
    base = `${(await app.listen(0, '127.0.0.1')).url}/_framework/mail`
    // Not a fixed scheme, which would also apply to the frame.
    page = await browser.newPage({ colorScheme: null })
    page.on('dialog', (dialog) => {
      escapes.push(`dialog ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('popup', (popup) => escapes.push(`popup ${popup.url()}`))
    page.on('download', (download) => escapes.push(`download ${download.url()}`))
  })

  afterEach(async () => {
    await page.close()
    await app.close()
    outside.closeAllConnections()
    outside.close()
  })

  const evil = () => `http://127.0.0.1:${(outside.address() as AddressInfo).port}`

  /** Everything known to run or reach out of a mail, each naming itself where it calls home. */
  const hostileHtml = () => `</iframe></body></html><!doctype html><base href="${evil()}/base/" target="_top">
    <script>fetch('${evil()}/script'); top.document.title = 'taken'; alert('script')</script>
    <script src="${evil()}/script-src"></script>
    <meta http-equiv="refresh" content="0; url=${evil()}/refresh">
    <link rel="stylesheet" href="${evil()}/stylesheet"><link rel="prefetch" href="${evil()}/prefetch">
    <link rel="dns-prefetch preconnect" href="${evil()}/preconnect">
    <style>@import '${evil()}/import'; body { background: url('${evil()}/background') } p { color: rgb(1, 2, 3) }</style>
    <img src=x onerror="alert('onerror'); new Image().src='${evil()}/onerror'"><img src="${evil()}/pixel">
    <svg onload="alert('svg')"><script>alert('svg script')</script><image href="${evil()}/svg-image"/></svg>
    <body onload="alert('onload')" onfocus="alert('onfocus')"><input autofocus onfocus="alert('autofocus')">
    <iframe src="${evil()}/iframe"></iframe><iframe srcdoc="<script>alert('srcdoc')</script>"></iframe>
    <iframe src="javascript:alert('iframe js')"></iframe><object data="${evil()}/object"></object><embed src="${evil()}/embed">
    <video src="${evil()}/video" autoplay onerror="alert('video')"></video><audio src="${evil()}/audio" autoplay></audio>
    <details open ontoggle="alert('toggle')">x</details><marquee onstart="alert('marquee')">x</marquee>
    <form action="${evil()}/form" target="_top"><button id="submit">Send</button></form>
    <a id="self-link" target="_self" href="${evil()}/self-link">zero</a>
    <a id="script-link" href="javascript:alert('link')">one</a>
    <a id="data-link" href="data:text/html,<script>alert('data')</script>" target="_blank">two</a>
    <a id="top-link" href="${evil()}/top-link" target="_top">three</a>
    <a id="blank-link" href="${evil()}/blank-link" target="_blank">four</a>
    <a id="ping-link" href="#x" ping="${evil()}/ping">five</a>
    <a id="download-link" href="${evil()}/download" download>six</a>
    <p id="marker">the message</p>`

  const sendHostile = async () => {
    const tag = `</title></style></iframe></textarea></pre><script>alert('page')</script><img src=x onerror="alert('page img')">`
    const { id } = await app.services.mailer.send({
      to: `"${tag.replaceAll('"', "'")}" <ada@example.com>`,
      subject: tag,
      text: `${tag}\njavascript:alert('text')\nhttps://example.com/"onmouseover="alert('attribute')`,
      html: hostileHtml(),
      headers: { 'X-Hostile': tag },
      attachments: [
        {
          filename: `${tag}.html`,
          content: `<script>alert('attachment')</script>`,
          contentType: 'text/html',
        },
        {
          filename: 'x.svg',
          cid: 'svg',
          content: `<svg xmlns="http://www.w3.org/2000/svg" onload="alert('cid')"/>`,
        },
      ],
    })
    return `${base}/${id}`
  }

  const nothingEscaped = (url: string) => {
    expect(escapes).to.deep.equal([])
    expect(calls).to.deep.equal([])
    expect(page.url()).to.equal(url)
  }

  it('runs no script of a hostile message, in the list or on its own page', async () => {
    const url = await sendHostile()
    await page.goto(base, { waitUntil: 'networkidle' })
    expect(await page.locator('.subject').textContent()).to.contain("<script>alert('page')</script>")
    nothingEscaped(base)
    await page.goto(url, { waitUntil: 'networkidle' })
    expect(await page.title())
      .to.contain("<script>alert('page')</script>")
      .and.to.contain('Mortar mail')
    nothingEscaped(url)
  })

  it('keeps the HTML of a hostile message in its frame after any click', async () => {
    const url = await sendHostile()
    await page.goto(url, { waitUntil: 'networkidle' })
    const frame = page.frameLocator('iframe')
    expect(await frame.locator('#marker').textContent()).to.equal('the message')
    for (const id of LINKS) await pressed(frame.locator(`#${id}`))
    // This click leads to the browser's own page about a refused connection.
    await Promise.all([page.waitForEvent('framenavigated'), pressed(frame.locator('#self-link'))])
    expect(escapes).to.deep.equal([])
    expect(calls).to.deep.equal([])
    expect(page.url()).to.equal(url)
    expect(await page.title()).to.contain('Mortar mail')
  })

  it('gives the frame an origin of its own', async () => {
    await page.goto(await sendHostile(), { waitUntil: 'networkidle' })
    const reach = await page.evaluate(
      `(({ sandbox, contentDocument }) => ({ permissions: sandbox.value, document: contentDocument }))(document.querySelector('iframe'))`,
    )
    expect(reach).to.deep.equal({ permissions: '', document: null })
  })

  it('runs no script when the HTML of a hostile message is opened outside its frame', async () => {
    const url = `${await sendHostile()}/html`
    await page.goto(url, { waitUntil: 'networkidle' })
    for (const id of ['script-link', 'data-link', 'submit']) await pressed(page.locator(`#${id}`))
    await page.waitForLoadState('networkidle')
    nothingEscaped(url)
  })

  it('makes nothing clickable but web addresses', async () => {
    await page.goto(await sendHostile(), { waitUntil: 'networkidle' })
    const links = await page.evaluate<[protocol: string, attributes: string][]>(
      `[...document.querySelectorAll('a')].map((a) => [a.protocol, a.getAttributeNames().sort().join()])`,
    )
    expect(new Set(links.map(([protocol]) => protocol))).to.deep.equal(new Set(['http:', 'https:']))
    expect(new Set(links.map(([, attributes]) => attributes))).to.deep.equal(
      new Set(['href', 'href,rel,target']),
    )
  })

  it('downloads an attachment instead of showing it', async () => {
    await page.goto(await sendHostile(), { waitUntil: 'networkidle' })
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('a[href$="/attachments/0"]').click(),
    ])
    expect(download.suggestedFilename())
      .to.match(/\.html$/)
      .and.not.to.match(/[/<>:"]/)
    expect(escapes.filter((escape) => !escape.startsWith('download'))).to.deep.equal([])
  })

  it('shows new mail by itself, in local time, and ends its questions with the page', async () => {
    await page.goto(base)
    await page.getByText('Nothing was sent yet.').waitFor()
    await app.services.mailer.send({ to: 'ada@example.com', subject: 'It came by itself', text: 'Hi' })
    await page.getByText('It came by itself').waitFor()
    const time = page.locator('time')
    expect(await time.getAttribute('title')).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
    expect(await time.textContent()).not.to.contain('UTC')
  })

  it('deletes by its buttons, after a search', async () => {
    for (const subject of ['First', 'Second', 'Third'])
      await app.services.mailer.send({ to: 'ada@example.com', subject, text: 'Hi' })
    await page.goto(base)
    await page.getByLabel('Search').fill('second')
    await page.getByLabel('Search').press('Enter')
    await page.getByText('1 of 3 messages').waitFor()
    await page.getByText('Second').click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('2 messages, kept in memory').waitFor()
    await page.getByRole('button', { name: 'Delete all' }).click()
    await page.getByText('Nothing was sent yet.').waitFor()
    expect(escapes).to.deep.equal([])
  })

  it('previews a message narrow and dark, and downloads it', async () => {
    const { id } = await app.services.mailer.send({
      to: 'ada@example.com',
      subject: 'Both modes',
      html: '<style>p { color: rgb(1, 2, 3) } @media (prefers-color-scheme: dark) { p { color: rgb(200, 200, 200) } } @media (max-width: 400px) { p { font-size: 9px } }</style><p>Hi</p>',
    })
    await page.goto(`${base}/${id}`)
    await page.frameLocator('iframe').locator('p').waitFor()
    const both = () =>
      page
        .frames()[1]!
        .evaluate(
          `(({ color, fontSize }) => color + ' ' + fontSize)(getComputedStyle(document.querySelector('p')))`,
        )
    expect(await both()).to.equal('rgb(1, 2, 3) 16px')
    await page.getByLabel('Phone').check()
    await page.getByLabel('Dark').check()
    expect(await both()).to.equal('rgb(200, 200, 200) 9px')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByText('Download .eml').click(),
    ])
    expect(download.suggestedFilename()).to.equal('Both modes.eml')
  })

  it('leads from the list to the message and to its link', async () => {
    await app.services.mailer.send({
      to: 'Ada Lovelace <ada@example.com>',
      subject: 'Reset your password',
      text: `Open ${evil()}/reset?token=abc within 30 minutes.`,
      html: '<h1 style="color: rgb(47, 91, 234)">Reset your password</h1>',
    })
    await page.goto(base)
    await page.locator('text=Reset your password').click()
    const title = page.frameLocator('iframe').locator('h1')
    expect(await title.getAttribute('style')).to.equal('color: rgb(47, 91, 234)')
    expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).maxWidth`)).to.equal('960px')
    const [opened] = await Promise.all([page.waitForEvent('popup'), page.locator('pre a').click()])
    await opened.waitForLoadState()
    expect(opened.url()).to.equal(`${evil()}/reset?token=abc`)
    expect(await opened.evaluate('window.opener')).to.equal(null)
    await opened.close()
  })
})
