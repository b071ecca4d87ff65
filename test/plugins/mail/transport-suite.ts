import { expect } from 'chai'
import PostalMime, { type Email } from 'postal-mime'
import type { MailOptions } from '@mortar/mail'
import { startMailApp, withMailApp } from './mail-app.ts'
import type { ReceivedMail } from './smtp-server.ts'

/** A kind of transport: its configuration, and the messages that arrived at the other end. */
export interface TransportUnderTest {
  readonly options: Partial<MailOptions>
  /** Absent for a transport that has no other end. */
  readonly received?: readonly ReceivedMail[]
  close?(): Promise<void>
}

/** Tests for every transport, however it is configured. */
export function describeTransport(
  kind: string,
  open: () => Promise<TransportUnderTest> | TransportUnderTest,
): void {
  describe(`The transport ${kind}`, () => {
    let transport: TransportUnderTest

    beforeEach(async () => {
      transport = await open()
    })
    afterEach(async () => {
      await transport.close?.()
    })

    const send = async (message: Record<string, unknown>) =>
      withMailApp(transport.options, async ({ services }) => {
        const { id } = await services.mailer.send({
          to: 'ada@example.com',
          subject: 'Hello',
          text: 'Hi',
          ...message,
        })
        return { id, kept: services.mailOutbox.find(id)! }
      })

    const arrived = async (): Promise<Email | undefined> => {
      if (!transport.received) return undefined
      expect(transport.received).to.have.length(1)
      return PostalMime.parse(transport.received[0]!.raw)
    }

    it('sends the message of the outbox, in any script', async () => {
      const text = 'Grüße, 你好, Здравствуйте 🎉\nhttps://example.com/reset?token=a_b-c&x=1=2\n'
      const html = '<p>Grüße 🎉 <a href="https://example.com/?a=1&amp;b=2">你好</a></p>'
      const { id, kept } = await send({
        to: 'Ada Ünï <ada@dömäin.example>',
        subject: 'Grüße 你好 🎉',
        text,
        html,
      })
      expect(kept).to.include({ status: 'sent', subject: 'Grüße 你好 🎉', text, html })
      expect(kept.to).to.equal('Ada Ünï <ada@xn--dmin-moa0i.example>')
      expect(kept.from).to.equal('Mortar <hello@example.com>')
      const mail = await arrived()
      if (!mail) return
      expect(mail.subject).to.equal(kept.subject)
      expect(mail.text?.trim()).to.equal(text.trim())
      expect(mail.html?.trim()).to.equal(html)
      expect(mail.to).to.deep.equal([{ name: 'Ada Ünï', address: 'ada@xn--dmin-moa0i.example' }])
      expect(mail.messageId).to.equal(`<${id}@example.com>`)
      expect(Object.fromEntries(kept.headers)['Message-ID']).to.equal(mail.messageId)
    })

    it('keeps two messages apart that are sent together', async () => {
      await withMailApp(transport.options, async ({ services: { mailer, mailOutbox } }) => {
        const sent = await Promise.all(
          ['one', 'two'].map((word) => mailer.send({ to: `${word}@example.com`, subject: word, text: word })),
        )
        expect(new Set(sent.map(({ id }) => id)).size).to.equal(2)
        for (const [index, word] of ['one', 'two'].entries())
          expect(mailOutbox.find(sent[index]!.id)).to.include({
            to: `${word}@example.com`,
            text: word,
            status: 'sent',
          })
      })
      const addresses = transport.received?.flatMap(({ envelope }) => envelope.to).toSorted()
      if (addresses) expect(addresses).to.deep.equal(['one@example.com', 'two@example.com'])
    })

    it('starts no header and adds no recipient at a line break', async () => {
      const { kept } = await send({
        to: ['Ada <ada@example.com>'],
        subject: 'Hi\r\nBcc: eve@example.com\r\n\r\nbody',
        headers: { 'X-Tag': 'one\r\nBcc: eve@example.com' },
        attachments: [
          { filename: 'a\r\nX-Evil: 1.txt', content: 'x', contentType: 'text/plain\r\nX-Evil: 1' },
        ],
      })
      expect(kept.subject).to.equal('Hi Bcc: eve@example.com body')
      expect(kept.headers.map(([name]) => name.toLowerCase())).not.to.include.members(['bcc', 'x-evil'])
      if (!transport.received) return
      expect(transport.received[0]!.envelope.to).to.deep.equal(['ada@example.com'])
      expect(transport.received[0]!.raw.toString()).not.to.match(/^(bcc|x-evil):/im)
    })

    it('sends to cc and bcc, and hides bcc', async () => {
      const { kept } = await send({
        cc: ['cc@example.com'],
        bcc: 'unseen@example.com',
        replyTo: 'reply@example.com',
      })
      expect(kept).to.include({
        cc: 'cc@example.com',
        bcc: 'unseen@example.com',
        replyTo: 'reply@example.com',
      })
      if (!transport.received) return
      expect(transport.received[0]!.envelope.to).to.have.members([
        'ada@example.com',
        'cc@example.com',
        'unseen@example.com',
      ])
      expect(transport.received[0]!.raw.toString()).not.to.contain('unseen@example.com')
    })

    it('sends a megabyte of HTML and attachments unchanged', async () => {
      const html = `<p>${'0123456789 äöü\n'.repeat(70_000)}</p>`
      const content = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256))
      const { kept } = await send({ html, attachments: [{ filename: 'Größe €.bin', content }] })
      expect(kept.html).to.equal(html)
      expect(kept.attachments[0]).to.deep.include({ filename: 'Größe €.bin', content })
      const mail = await arrived()
      if (!mail) return
      expect(mail.html?.replace(/\r\n/g, '\n').trim()).to.equal(html)
      expect(mail.attachments[0]!.filename).to.equal('Größe €.bin')
      expect(Buffer.from(mail.attachments[0]!.content as ArrayBuffer).equals(content)).to.equal(true)
    })

    it('accepts no message after the application has closed', async () => {
      const app = await startMailApp(transport.options)
      const { mailer } = app.services
      await mailer.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hi' })
      await app.close()
      const refused = await mailer
        .send({ to: 'ada@example.com', subject: 'Late', text: 'Hi' })
        .catch((error) => error)
      expect(refused).to.include({ name: 'MailError', code: 'MAIL_CLOSED' })
    })
  })
}
