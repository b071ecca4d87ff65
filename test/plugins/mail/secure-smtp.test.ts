import { createRequire } from 'node:module'
import { createTransport } from 'nodemailer'
import { expect } from 'chai'
import type { MailTransport } from '@mortar/mail'
import { alwaysOpens, openTransport } from '../../../plugins/mail/transports/open-transport.ts'
import { demandTls } from '../../../plugins/mail/transports/secure-smtp.ts'
import { terminalTransport } from '../../../plugins/mail/transports/terminal.ts'
import { rejection, startMailApp } from './mail-app.ts'

const auth = { user: 'ada', pass: 'secret' }
const terminal = { print: () => undefined, pageOf: () => undefined }

function requiresTls(transport: MailTransport, smtp?: object): unknown {
  const named = { terminal, smtp }
  const opened = openTransport(transport, { named, allowPlainPassword: false })
  const { options } = opened.transporter as { options?: { requireTLS?: boolean } }
  opened.close()
  return options?.requireTLS ?? false
}

describe('A transport with a password', () => {
  it('requires TLS for another machine', async () => {
    expect(requiresTls('smtp://ada:secret@mail.example.com:587')).to.equal(true)
    expect(requiresTls('smtp://ada:secret@10.0.0.1:587?pool=true')).to.equal(true)
    expect(requiresTls({ host: 'mail.example.com', auth })).to.equal(true)
    expect(requiresTls({ host: '128.0.0.1', pool: true, auth: { type: 'OAuth2', user: 'ada' } })).to.equal(
      true,
    )
    for (const host of ['localhost.example.com', 'notlocalhost', '127.example.com'])
      expect(requiresTls('smtp', { host, auth }), host).to.equal(true)
  })

  it('does not require STARTTLS for this machine, without a password, or with implicit TLS', async () => {
    for (const host of ['localhost', 'mail.localhost', '127.0.0.1', '127.1.2.3', '[::1]'])
      expect(requiresTls(`smtp://ada:secret@${host}:25`), host).to.equal(false)
    for (const host of [undefined, 'LOCALHOST', '::1', '::ffff:127.0.0.1'])
      expect(requiresTls({ host, port: 25, auth }), host).to.equal(false)
    expect(requiresTls({ host: 'mail.example.com' })).to.equal(false)
    expect(requiresTls('smtps://ada:secret@mail.example.com')).to.equal(false)
    expect(requiresTls({ sendmail: true })).to.equal(false)
    expect(requiresTls(terminalTransport(terminal))).to.equal(false)
  })

  it('is opened after the start only if the start cannot refuse it', () => {
    for (const transport of ['memory', 'sendmail', 'smtp://ada:secret@a.example', 'smtps://a:%zz@b']) {
      expect(() => requiresTls(transport), transport).not.to.throw()
      expect(alwaysOpens(transport), transport).to.equal(true)
    }
    for (const transport of ['smtp', ...Object.values(plain)])
      expect(alwaysOpens(transport), String(transport)).to.equal(false)
  })

  const plain: Readonly<Record<string, MailTransport>> = {
    'a URL': 'smtp://ada:secret@mail.example.com?ignoreTLS=true',
    options: { host: 'mail.example.com', ignoreTLS: true, auth },
    'a transporter of its own': createTransport({ host: 'mail.example.com', auth }),
  }
  for (const [name, transport] of Object.entries(plain)) {
    it(`is rejected at the start without TLS: ${name}`, async () => {
      const error = await rejection(startMailApp({ transport }))
      expect(error).to.include({ code: 'MORTAR_MAIL_PLAIN_PASSWORD' })
      expect(error.message).not.to.contain('secret')
    })

    it(`may opt out of TLS: ${name}`, async () => {
      const app = await startMailApp({ transport, allowPlainPassword: true })
      expect(app.services.mailer.send).to.be.a('function')
      await app.close()
    })
  }

  it('is not opened by a nodemailer that does not show the name of its SMTP transport', () => {
    const { prototype } = createRequire(import.meta.url)('nodemailer/lib/smtp-transport') as typeof Function
    Object.defineProperty(prototype, 'name', { configurable: true, set() {} })
    try {
      for (const transport of ['smtp://ada:secret@mail.example.com', { host: 'mail.example.com', auth }])
        expect(() => requiresTls(transport)).to.throw(
          /nodemailer \d+\.\d+\.\d+ does not show.+npm ls nodemailer/s,
        )
      expect(requiresTls({ host: 'mail.example.com', jsonTransport: true })).to.equal(false)
    } finally {
      Reflect.deleteProperty(prototype, 'name')
    }
  })

  it('is not used if its options are elsewhere', () => {
    const transporter = createTransport({ host: 'mail.example.com', auth })
    Object.assign(transporter.transporter, { options: undefined })
    expect(() => demandTls(transporter, { isOwn: false, isSmtp: true })).to.throw('does not show the options')
  })

  it('accepts a custom transporter that requires TLS', async () => {
    expect(requiresTls(createTransport({ host: 'mail.example.com', auth, requireTLS: true }))).to.equal(true)
  })
})

describe('A production without real mail', () => {
  for (const [transport, expected] of [
    ['memory', 1],
    ['terminal', 1],
    ['smtp', 0],
  ] as const)
    it(`${expected === 1 ? 'warns' : 'does not warn'} with the transport ${transport}`, async () => {
      const warnings: string[] = []
      const logger = {
        debug() {},
        info() {},
        warn: (text: unknown) => void warnings.push(String(text)),
        error() {},
        child: () => logger,
      }
      const app = await startMailApp({ transport }, { environment: 'production', logger })
      await app.close()
      expect(warnings.filter((line) => line.includes(`'${transport}'`))).to.have.length(expected)
    })
})

describe('A mail that has HTML only', () => {
  async function textOf(message: object): Promise<string | null> {
    const app = await startMailApp()
    await app.services.mailer.send({ to: 'ada@example.com', subject: 'Hi', ...message })
    const [sent] = app.services.mailOutbox.list()
    await app.close()
    return sent!.text
  }

  it('gets a text part with its links', async () => {
    const html =
      '<style>p{}</style><h1>Hello &amp; welcome</h1><p>Open <a href="https://example.com/?a=1&amp;b=2">this</a>.<br>Bye</p><script>x</script>'
    const text = await textOf({ html })
    expect(text).to.match(/^Hello & welcome/)
    expect(text).to.contain('https://example.com/?a=1&b=2').and.to.contain('\nBye')
    expect(text).not.to.match(/[<>{}]|script/)
  })

  it('keeps its own text part', async () => {
    expect(await textOf({ html: '<p>Hi</p>', text: 'Mine' })).to.equal('Mine')
  })

  it('is sent even if its HTML is hostile', async () => {
    const text = await textOf({ html: `${'<div>'.repeat(20_000)}&#27;[2J` })
    // oxlint-disable-next-line no-control-regex -- the test finds control characters
    expect(text ?? '').not.to.match(/[\u001b]/)
  })
})
