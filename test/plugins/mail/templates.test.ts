import { expect } from 'chai'
import type { Transport } from 'nodemailer'
import { StartupErrors, type StartupError } from 'mortar'
import { html, type TemplateMessage } from '@mortar/mail'
import { createTemplates } from '../../../plugins/mail/templates/templates.ts'
import { rejection, withMailApp } from './mail-app.ts'
import nightly from './mail/reports/nightly.ts'
import welcome from './mail/welcome.ts'

const templates = new URL('./mail', import.meta.url)
const BROKEN = new URL('./broken', import.meta.url)
const EVE = '<img src=x onerror="alert(1)">'
const ADA = { to: ['ada@example.com'], data: { name: 'Ada', links: [] } }

const failing: Transport = { name: 'failing', version: '1', send: (_mail, done) => done(new Error('away')) }

/** Sends the welcome mail and returns it as it was sent. */
const sent = (message: Partial<TemplateMessage<{ name: string; links: string[] }>>) =>
  withMailApp({ templates }, async ({ services: { mailer, mailOutbox } }) => {
    await mailer.send(welcome, { ...ADA, ...message })
    return mailOutbox.list()[0]!
  })

describe('A template of a mail', () => {
  it('is sent with its data, which is escaped in HTML', async () => {
    const message = await sent({ data: { name: EVE, links: ['https://example.com/?a=1&b="'] } })
    expect(message).to.include({ subject: `Welcome, ${EVE}`, to: 'ada@example.com' })
    expect(message.html).not.to.contain('<img')
    expect(message.html).to.contain('title="&lt;img src=x onerror=&quot;alert(1)&quot;&gt;"')
    expect(message.html).to.contain('href="https://example.com/?a=1&amp;b=&quot;"')
    expect(message.text).to.contain(`Hello ${EVE}`)
  })

  it('does not escape its text, and has no line break in its subject', async () => {
    const { subject, text } = await sent({
      locale: 'de',
      data: { name: 'A\r\nBcc: b@example.com', links: [] },
    })
    expect(subject).to.equal('Willkommen, A Bcc: b@example.com')
    expect(text).to.contain('<3')
  })

  const cases = {
    de: 'Willkommen, Ada',
    'de-AT': 'Willkommen, Ada',
    DE_de: 'Willkommen, Ada',
    'pt-br': 'Bem-vinda',
    pt: 'Welcome, Ada',
    fr: 'Welcome, Ada',
    '../de': 'Welcome, Ada',
    '': 'Welcome, Ada',
  }
  for (const [locale, subject] of Object.entries(cases))
    it(`has the subject '${subject}' in the locale '${locale}'`, async () =>
      expect(await sent({ locale })).to.include({ subject }))

  it('rejects data that its schema refuses, without its values, and a template of another folder', async () => {
    await withMailApp({ templates }, async ({ services: { mailer, mailOutbox } }) => {
      const data = { name: 'secret-x', links: ['secret-y'.repeat(9)] }
      const error = await rejection(mailer.send(welcome, { ...ADA, data }))
      expect(error).to.include({ code: 'MAIL_INVALID_MESSAGE' })
      expect(error.message).to.contain('links[0] (max)').and.not.contain('secret')
      // @ts-expect-error: `data` is required.
      await rejection(mailer.send(welcome, { to: 'ada@example.com' }))
      expect(mailOutbox.list()).to.deep.equal([])
      await mailer.send(nightly, { to: 'ada@example.com' })
    })
    await withMailApp({}, async ({ services: { mailer } }) => {
      const error = await rejection(mailer.send(nightly, { to: 'ada@example.com' }))
      expect(error.message).to.contain('mail({ templates })')
    })
  })

  it('is sent with the options of its call', () =>
    withMailApp({ templates, transport: failing }, async ({ services: { mailer } }) => {
      expect(await rejection(mailer.send(welcome, ADA, { now: true }))).to.include({ code: 'MAIL_NOT_SENT' })
      expect(await rejection(mailer.send(welcome, ADA, { tx: {} }))).to.include({ code: 'MAIL_NO_QUEUE' })
    }))

  it('is on the development page with its sample, in each locale', () =>
    withMailApp({ templates, page: true }, async (app) => {
      const get = (path: string, accept = 'text/html') =>
        app.inject({ url: `/_framework/mail${path}`, headers: { accept } })
      const list = (await get('')).body
      for (const name of ['reports/nightly', 'welcome', 'welcome.de', 'welcome.pt-BR'])
        expect(list).to.contain(`href="/_framework/mail/template%3A${encodeURIComponent(name)}"`)
      const page = await get('/template%3Awelcome.de')
      expect(page.statusCode).to.equal(200)
      expect(page.body).to.contain('Willkommen, Ada').and.not.contain('Delete')
      const json = (await get('/template%3Areports%2Fnightly', 'application/json')).json<object>()
      expect(json).to.include({ subject: 'Report', text: 'Nothing happened.' })
      expect((await get('/template%3Awelcome/html')).body).to.contain('Hello Ada')
      expect((await get('/template%3Anobody')).statusCode).to.equal(404)
      expect(app.services.mailOutbox.list()).to.deep.equal([])
    }))
})

describe('The directory of mail templates', () => {
  it('reports every broken file in one run', async () => {
    const error = await rejection(createTemplates(BROKEN).load())
    expect(error).to.be.instanceOf(StartupErrors)
    const { errors } = error as unknown as StartupErrors
    expect(errors.map(({ files }) => files[0]!.split('/broken/')[1])).to.have.members([
      'empty.ts',
      'late.fr.ts',
      'no-default.ts',
      'one-again.ts',
      'one.ts',
      'plain.de.ts',
      'plain.ts',
      'sample.ts',
      'throws.ts',
    ])
    expect(new Set(errors.map(({ code }: StartupError) => code))).to.deep.equal(
      new Set(['MORTAR_MAIL_TEMPLATE']),
    )
    expect(error.message)
      .to.contain('This module fails.')
      .and.contain('is the same template as')
      .and.not.contain('secret-x')
  })

  it('stops the start if it is relative or does not exist', async () => {
    for (const folder of ['mail', new URL('./nowhere', import.meta.url)])
      expect(await rejection(withMailApp({ templates: folder }, async () => undefined))).to.include({
        code: 'MORTAR_MAIL_DIRECTORY',
      })
  })
})

describe('The tag html', () => {
  it('escapes values, joins lists and keeps markup', () => {
    const markup = html`<b>${['<', html`<i>${'&'}</i>`]}${1}</b>`
    expect(markup.toString()).to.equal('<b>&lt;<i>&amp;</i>1</b>')
  })
})
