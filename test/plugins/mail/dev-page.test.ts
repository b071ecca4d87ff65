import { expect } from 'chai'
import PostalMime from 'postal-mime'
import { startMailApp } from './mail-app.ts'

const PAGE = '/_framework/mail'
const JSON_TYPE = { accept: 'application/json' }

describe('The mail page', () => {
  let app: Awaited<ReturnType<typeof startMailApp>>

  beforeEach(async () => {
    app = await startMailApp({}, { clock: { now: () => Date.UTC(2030, 0, 2, 3, 4, 5) } })
  })
  afterEach(async () => app.close())

  const send = async (message: object = {}) => {
    const sent = await app.services.mailer.send({
      to: 'ada@example.com',
      subject: 'Hello',
      text: 'Hi',
      ...message,
    })
    return sent.id
  }
  const get = (path: string, headers: Record<string, string> = {}) =>
    app.inject({ url: PAGE + path, headers })

  it('lists the messages as JSON, newest first, in the shape of the contract', async () => {
    expect((await get('', JSON_TYPE)).json()).to.deep.equal({ messages: [] })
    const first = await send()
    const second = await send({ subject: 'Two', text: undefined, html: '<p>Hi</p>', from: 'bob@example.com' })
    expect((await get('', JSON_TYPE)).json()).to.deep.equal({
      messages: [
        {
          id: second,
          to: 'ada@example.com',
          from: 'bob@example.com',
          subject: 'Two',
          text: 'Hi',
          html: '<p>Hi</p>',
          date: '2030-01-02T03:04:05.000Z',
        },
        {
          id: first,
          to: 'ada@example.com',
          from: 'Mortar <hello@example.com>',
          subject: 'Hello',
          text: 'Hi',
          html: null,
          date: '2030-01-02T03:04:05.000Z',
        },
      ],
    })
  })

  it('gives one message as the same object', async () => {
    const id = await send()
    const [listed] = (await get('', JSON_TYPE)).json<{ messages: object[] }>().messages
    expect((await get(`/${id}`, JSON_TYPE)).json()).to.deep.equal(listed)
  })

  it('shows the optional fields of a message only if it has them', async () => {
    const attachments = [{ filename: 'a.pdf', content: 'abc' }]
    const id = await send({
      cc: 'cc@example.com',
      bcc: 'b@example.com',
      replyTo: 'r@example.com',
      attachments,
    })
    expect((await get(`/${id}`, JSON_TYPE)).json()).to.deep.include({
      cc: 'cc@example.com',
      bcc: 'b@example.com',
      replyTo: 'r@example.com',
      attachments: [{ filename: 'a.pdf', contentType: 'application/pdf', size: 3 }],
    })
  })

  it('names each field beside its own address', async () => {
    const own = { from: 'a@example.com', to: 'b@example.com', cc: 'c@example.com', bcc: 'd@example.com' }
    const page = (await get(`/${await send({ ...own, replyTo: 'e@example.com' })}`)).body
    const shown = [...page.matchAll(/<dt>([^<]+)<\/dt>\s*<dd>(.*?)<\/dd>/gs)].map(([, name, value]) => [
      name,
      /\w+@example\.com/.exec(value!)?.[0],
    ])
    expect(shown.slice(0, 5)).to.deep.equal([
      ['From', own.from],
      ['To', own.to],
      ['Cc', own.cc],
      ['Bcc', own.bcc],
      ['Reply to', 'e@example.com'],
    ])
  })

  it('is HTML for a browser and without an Accept header, and JSON if the header asks for it', async () => {
    const type = async (accept?: string) => (await get('', accept ? { accept } : {})).headers['content-type']
    expect(await type()).to.equal('text/html; charset=utf-8')
    expect(await type('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8')).to.match(
      /^text\/html/,
    )
    expect(await type('*/*')).to.match(/^text\/html/)
    expect(await type('image/png')).to.match(/^text\/html/)
    expect(await type('application/json')).to.match(/^application\/json/)
    expect(await type('application/json, text/plain, */*')).to.match(/^application\/json/)
    expect(await type('text/html;q=0.5, application/json')).to.match(/^application\/json/)
  })

  it('responds with a 404 problem to an unknown message, HTML or attachment', async () => {
    const id = await send()
    for (const path of [
      '/unknown',
      '/unknown/html',
      `/${id}/html`,
      `/${id}/attachments/0`,
      `/${id}/attachments/x`,
    ])
      for (const headers of [{}, JSON_TYPE]) {
        const response = await get(path, headers)
        expect(response.statusCode, path).to.equal(404)
        expect(response.headers['content-type'], path).to.match(/^application\/problem\+json/)
        expect(response.json()).to.include({ status: 404, code: 'not_found' })
        expect(response.headers['cache-control'], path).to.equal('no-store')
      }
  })

  it('is never stored, sniffed, framed by others or allowed to run anything', async () => {
    const id = await send({ html: '<p>Hi</p>', attachments: [{ filename: 'a.html', content: '<script>' }] })
    for (const path of [
      '',
      ...['', '/html', '/source', '/eml', '/attachments/0'].map((part) => `/${id}${part}`),
    ]) {
      const { headers } = await get(path)
      expect(headers, path).to.include({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      })
      expect(headers['content-security-policy'], path).to.contain("default-src 'none'")
      expect(headers['content-security-policy'], path).not.to.match(/allow-|unsafe-eval/)
      // No directive names a place in the network.
      const sources = /^(none|self|unsafe-inline|data:|sha256-[\w+/]{43}=)$/
      for (const directive of String(headers['content-security-policy']).split(/; ?/))
        for (const source of directive.split(' ').slice(1))
          expect(source.replaceAll("'", ''), path).to.match(sources)
      expect(headers['content-security-policy'], path).to.contain(
        `frame-ancestors '${path.endsWith('/html') ? 'self' : 'none'}'`,
      )
      if (/html|attachments|source|eml/.test(path))
        expect(headers['content-security-policy'], path).not.to.contain('script-src')
      else expect(headers['content-security-policy'], path).to.match(/script-src 'sha256-[\w+/]{43}=';/)
      expect(headers, path).not.to.have.property('access-control-allow-origin')
    }
    expect((await get('')).headers['vary']).to.match(/accept/i)
    expect((await get(`/${id}`)).headers['vary']).to.match(/accept/i)
    expect((await get(`/${id}/html`)).headers['content-security-policy']).to.match(/^sandbox;/)
  })

  it('shows the HTML in a frame without any permission, and the text with its links', async () => {
    const id = await send({ text: 'Open https://example.com/?a=1&b="2', html: '<p id="own">Hi</p>' })
    const page = (await get(`/${id}`)).body
    expect(page).to.match(new RegExp(`<iframe sandbox src="${PAGE}/${id}/html"`))
    expect(page).not.to.contain('id="own"')
    expect(page).to.contain(
      '<a href="https://example.com/?a=1&amp;b=" target="_blank" rel="noopener noreferrer">',
    )
    expect((await get(`/${id}/html`)).body).to.equal('<p id="own">Hi</p>')
  })

  it('closes each element where it was opened', async () => {
    const id = await send({ html: '<p>Hi</p>', attachments: [{ filename: 'a', content: 'x' }] })
    for (const path of ['', `/${id}`]) {
      const page = (await get(path)).body.replaceAll(/(<(style|script)>)[^]*?(<\/\2>)/g, '$1$3')
      const open: string[] = []
      for (const [tag, end, name] of page.matchAll(/<(\/?)([a-z][a-z\d]*)[^>]*>/g)) {
        if (end === '/') expect(name, `${path} ${open.join(' ')}`).to.equal(open.pop())
        else if (!tag.endsWith('/>') && name !== 'link') open.push(name!)
      }
      expect(open, path).to.deep.equal([])
    }
  })

  it('escapes the content of a message everywhere', async () => {
    const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`
    const id = await send({
      to: `"${hostile.replaceAll('"', '')}" <ada@example.com>`,
      subject: hostile,
      text: hostile,
      headers: { 'X-Hostile': hostile },
      attachments: [{ filename: hostile, content: 'x', contentType: hostile }],
    })
    for (const path of ['', `/${id}`]) {
      const page = (await get(path)).body
      expect(page.replace(/<script>'use strict';[^]*?<\/script>/, ''), path).not.to.match(/<script|<img/)
      expect(page, path).to.contain('&lt;script&gt;alert(1)&lt;/script&gt;')
    }
  })

  it('shows only images that the message contains', async () => {
    const id = await send({
      html: '<img src="cid:logo@mortar"><img src="cid:page"><img src="cid:missing">',
      attachments: [
        { filename: 'logo.png', content: Buffer.from('PNG'), cid: 'logo@mortar' },
        { filename: 'page.html', content: '<script>', cid: 'page' },
      ],
    })
    expect((await get(`/${id}/html`)).body).to.equal(
      '<img src="data:image/png;base64,UE5H"><img src="cid:page"><img src="cid:missing">',
    )
  })

  it('offers attachments as downloads under a safe name', async () => {
    const names: Record<string, [plain: string, encoded: string]> = {
      'report.pdf': ['report.pdf', 'report.pdf'],
      '../../etc/passwd': ['_.._etc_passwd', '_.._etc_passwd'],
      'C:\\Windows\\evil.exe': ['C__Windows_evil.exe', 'C__Windows_evil.exe'],
      'a"; filename=b.html': ['a_; filename=b.html', 'a_%3B%20filename%3Db.html'],
      'invoice\u202efdp.exe': ['invoice_fdp.exe', 'invoice_fdp.exe'],
      "Größe 'x'.txt": ["Gr__e 'x'.txt", 'Gr%C3%B6%C3%9Fe%20%27x%27.txt'],
      '...': ['attachment-1', 'attachment-1'],
      'half \ud83d pair.txt': ['half _ pair.txt', 'half%20_%20pair.txt'],
    }
    for (const [filename, [plain, encoded]] of Object.entries(names)) {
      const content = Buffer.from([0, 255, 60, 104])
      const id = await send({ attachments: [{ filename, content, contentType: 'text/html' }] })
      const { headers, rawPayload } = await get(`/${id}/attachments/0`)
      expect(headers['content-disposition']).to.equal(
        `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`,
      )
      expect(headers['content-type']).to.equal('application/octet-stream')
      expect(rawPayload.equals(content)).to.equal(true)
    }
    const nameOf = async (filename: string): Promise<string> => {
      const id = await send({ attachments: [{ filename, content: 'x' }] })
      const { headers } = await get(`/${id}/attachments/0`)
      return /filename="(.*?)"/.exec(String(headers['content-disposition']))![1]!
    }
    expect(await nameOf(`${'x'.repeat(5000)}.tar.gz`)).to.equal(`${'x'.repeat(117)}.gz`)
    expect(await nameOf(`x.${'y'.repeat(5000)}`)).to.equal(`x.${'y'.repeat(118)}`)
  })

  it('finds messages by every word of a search: address, subject, text', async () => {
    await send({ subject: 'Reset your password', from: 'Notes <notes@example.com>' })
    await send({ to: 'bob@example.com', text: 'Your EXPORT is ready' })
    const found = async (words: string) => {
      const path = `?q=${encodeURIComponent(words)}`
      return (await get(path, JSON_TYPE)).json<{ messages: { to: string }[] }>().messages.map(({ to }) => to)
    }
    expect(await found('')).to.deep.equal(['bob@example.com', 'ada@example.com'])
    expect(await found('password notes@')).to.deep.equal(['ada@example.com'])
    expect(await found('export')).to.deep.equal(['bob@example.com'])
    expect(await found('password bob')).to.deep.equal([])
    const copies = { cc: 'cy@example.com', bcc: 'di@example.com', replyTo: 'ed@example.com' }
    await send({ to: 'flo@example.com', ...copies, html: '<b>monthly</b>' })
    for (const word of ['cy@', 'di@', 'ed@', 'MONTHLY'])
      expect(await found(word), word).to.deep.equal(['flo@example.com'])
    const page = (await get('?q=export%20%22')).body
    expect(page).to.contain('value="export &quot;"').and.to.contain('No message matches.')
    expect((await get('?q=export')).body).to.contain('1 of 3 messages')
  })

  it('shows the sender in the list', async () => {
    await send({ from: 'Notes <notes@example.com>' })
    expect((await get('')).body).to.contain('<bdi>Notes &lt;notes@example.com&gt;</bdi>')
  })

  it('deletes one message or all of them, and goes back to the list', async () => {
    const [first, second] = [await send(), await send()]
    const post = (path: string, headers: Record<string, string> = {}) =>
      app.inject({ method: 'POST', url: PAGE + path, headers })
    const one = await post(`/${first}/delete`, { 'content-type': 'application/x-www-form-urlencoded' })
    expect([one.statusCode, one.headers.location]).to.deep.equal([303, PAGE])
    expect(app.services.mailOutbox.list().map(({ id }) => id)).to.deep.equal([second])
    expect((await post(`/${first}/delete`)).statusCode).to.equal(404)
    expect((await post('/delete', JSON_TYPE)).statusCode).to.equal(204)
    expect(app.services.mailOutbox.list()).to.deep.equal([])
  })

  it('deletes nothing for a page of another origin, nor for another machine', async () => {
    const id = await send()
    const foreign = [
      { origin: 'http://evil.example', host: 'localhost:80' },
      { origin: 'http://localhost:3001', host: 'localhost:3000' },
      { origin: 'null', host: 'localhost:80' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' },
    ]
    for (const headers of foreign)
      for (const path of ['/delete', `/${id}/delete`]) {
        const { statusCode } = await app.inject({ method: 'POST', url: PAGE + path, headers })
        expect(statusCode, JSON.stringify(headers)).to.equal(403)
      }
    const url = `${PAGE}/delete`
    expect((await app.inject({ method: 'POST', url, remoteAddress: '10.0.0.7' })).statusCode).to.equal(403)
    expect((await app.inject({ method: 'GET', url })).statusCode).not.to.equal(200)
    expect(app.services.mailOutbox.list()).to.have.length(1)
  })

  it('deletes nothing for a page in plain http of its own host, if the application is used over https', async () => {
    const secure = await startMailApp({ page: true }, { trustProxy: 1 })
    const [host, method] = ['localhost', 'POST'] as const
    const statusOf = async (scheme: string) => {
      const headers = { host, 'x-forwarded-proto': 'https', origin: `${scheme}://${host}` }
      return (await secure.inject({ method, url: `${PAGE}/delete`, headers })).statusCode
    }
    expect([await statusOf('http'), await statusOf('https')]).to.deep.equal([403, 303])
    await secure.close()
  })

  it('gives the message as it was sent, to read and to open in a mail program', async () => {
    const id = await send({
      subject: 'Größe: ../x',
      html: '<p>Hi</p>',
      bcc: 'secret@example.com',
      attachments: [{ filename: 'a.bin', content: Buffer.from([0, 255]) }],
    })
    const source = await get(`/${id}/source`)
    expect(source.headers['content-type']).to.equal('text/plain; charset=utf-8')
    const eml = await get(`/${id}/eml`)
    expect(eml.headers).to.include({
      'content-type': 'message/rfc822',
      'content-disposition': `attachment; filename="Gr__e_ .._x.eml"; filename*=UTF-8''Gr%C3%B6%C3%9Fe_%20.._x.eml`,
    })
    expect(eml.rawPayload.equals(source.rawPayload)).to.equal(true)
    const { from, subject, text, html, attachments } = await new PostalMime().parse(eml.rawPayload)
    expect({ from: from?.address, subject, text: text?.trim(), html: html?.trim() }).to.deep.equal({
      from: 'hello@example.com',
      subject: 'Größe: ../x',
      text: 'Hi',
      html: '<p>Hi</p>',
    })
    expect(attachments[0]!.filename).to.equal('a.bin')
    expect(eml.body).not.to.contain('secret@example.com')
  })

  it('has a revision that changes with the list', async () => {
    const revision = async () => (await get('/revision')).json<{ revision: string }>().revision
    const first = await revision()
    expect(await revision()).to.equal(first)
    const id = await send()
    const second = await revision()
    expect(second).not.to.equal(first)
    expect((await get('')).body).to.contain(`data-revision="${second}"`)
    await app.inject({ method: 'POST', url: `${PAGE}/${id}/delete` })
    expect(await revision()).not.to.equal(second)
  })

  it('says that links are refused only if the HTML has one, and shows the HTML itself', async () => {
    const without = (await get(`/${await send({ html: '<p class="a">Hi</p>' })}`)).body
    expect(without).not.to.contain('its links are refused')
    expect(without).to.contain('<pre>&lt;p class=&quot;a&quot;&gt;Hi&lt;/p&gt;</pre>')
    const html = '<a href="https://example.com/">Open</a>'
    expect((await get(`/${await send({ html })}`)).body).to.contain(
      'its links are refused: they are listed above',
    )
  })

  it('marks a message that was not sent, with the reason', async () => {
    await app.close()
    const refuse = () => {
      throw new Error('the <post> is closed')
    }
    app = await startMailApp({ transport: { name: 'broken', version: '1', send: refuse } })
    await app.services.mailer
      .send({ to: 'ada@example.com', subject: 'Hello', text: 'Hi' })
      .catch(() => undefined)
    const [message] = (await get('', JSON_TYPE)).json<{ messages: { id: string }[] }>().messages
    expect(message).to.include({ status: 'failed', error: 'The mail was not sent: the <post> is closed' })
    expect((await get('')).body).to.contain('not sent')
    expect((await get(`/${message!.id}`)).body).to.contain('the &lt;post&gt; is closed')
  })

  it('is not in the OpenAPI document', async () => {
    expect((await app.inject('/openapi.json')).body).not.to.contain('_framework')
  })
})
