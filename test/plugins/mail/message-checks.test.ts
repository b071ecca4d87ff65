import { expect } from 'chai'
import type { Transport } from 'nodemailer'
import type { MailMessage } from 'mortar'
import { countKept } from '../../support/collect-garbage.ts'
import { rejection, withMailApp } from './mail-app.ts'

describe('An invalid message', () => {
  const refusalOf = (message: object) =>
    withMailApp({}, async ({ services: { mailer, mailOutbox } }) => {
      const sound = { to: 'ada@example.com', subject: 'Hello', text: 'Hi' }
      const error = await rejection(mailer.send({ ...sound, ...message }))
      expect(error).to.include({ name: 'MailError', code: 'MAIL_INVALID_MESSAGE' })
      expect(mailOutbox.list()).to.deep.equal([])
      return error.message
    })

  const bad: Record<string, object> = {
    'an empty to': { to: '' },
    'a to without entries': { to: [] },
    'no to': { to: undefined },
    'a to that is only commas': { to: ', ,' },
    'an address without a domain': { to: 'ada@' },
    'an address without a local part': { to: '@example.com' },
    'an address with two at signs': { to: 'ada@example.com@evil.example' },
    'a string that is not an address': { to: 'ada' },
    'a line break in to': { to: 'ada@example.com\r\nBcc: eve@example.com' },
    'a line break in an entry of to': { to: ['ada@example.com\n'] },
    'a NUL in to': { to: 'ada@example.com\0' },
    'a group in to': { to: 'friends: eve@example.com;' },
    'stray words before an address': { to: 'ada eve@example.com' },
    'an open bracket': { to: 'Ada <ada@example.com' },
    'a quoted local part': { to: '"ada@evil.example x"@example.com' },
    'two addresses in one entry of a list': { to: ['ada@example.com, eve@example.com'] },
    'a list with an entry that is not a string': { to: [{ address: 'ada@example.com' }] },
    'a to that is an object': { to: { address: 'ada@example.com' } },
    'an address that is too long': { to: `${'a'.repeat(250)}@example.com` },
    'two senders': { from: 'a@example.com, b@example.com' },
    'a wrong cc': { cc: 'nobody' },
    'a wrong bcc': { bcc: ['nobody'] },
    'a wrong replyTo': { replyTo: 'a@b@c' },
    'neither text nor html': { text: undefined },
    '`text` that is an object': { text: { path: '/etc/hostname' } },
    'an html that is an object': { html: { href: 'http://127.0.0.1/' } },
    'a header name with a line break': { headers: { 'X-A\r\nBcc': 'eve@example.com' } },
    'a header that a field sets': { headers: { bcc: 'eve@example.com' } },
    'a header that is an object': {
      headers: { 'X-A': { prepared: true, value: 'x\r\nBcc: eve@example.com' } },
    },
    'an attachment by path': { attachments: [{ filename: 'x', path: '/etc/hostname' }] },
    'an attachment whose content is a path': {
      attachments: [{ filename: 'x', content: { path: '/etc/hostname' } }],
    },
    'attachments that are not an array': { attachments: { length: 1 } },
  }

  for (const [what, message] of Object.entries(bad))
    it(`is rejected before any transport receives it: ${what}`, async () => {
      expect(await refusalOf(message)).to.match(/^The mail was not sent: /)
    })

  it('is described by its fault, if it has a group of addresses', async () => {
    for (const to of ['friends: eve@example.com;', 'undisclosed-recipients:;'])
      expect(await refusalOf({ to })).to.contain('contains a group of addresses')
  })

  it('is described without its values', async () => {
    expect(await refusalOf({ to: 'sesame open@example' })).not.to.contain('sesame')
  })

  it('is rejected when it is not an object', async () => {
    await withMailApp({}, async ({ services: { mailer } }) => {
      for (const message of [undefined, null, 'text'])
        expect(await rejection(mailer.send(message as unknown as MailMessage))).to.include({
          code: 'MAIL_INVALID_MESSAGE',
        })
    })
  })
})

describe('A message that the transport receives', () => {
  type Attachment = { readonly filename: string; readonly content: Buffer }

  /** Sends a message by a transport of its own. `receive` has the attachments as the transport has them. */
  const sent = (message: object, receive: (attachments: Attachment[]) => Error | void) => {
    const send: Transport['send'] = ({ data }, done) => {
      const failure = receive(data.attachments as Attachment[])
      if (failure) return done(failure)
      done(null, { envelope: { from: 'a@example.com', to: [] }, messageId: 'x' })
    }
    const transport = { name: 'own', version: '1', send }
    return withMailApp({ transport }, async ({ services: { mailer, mailOutbox } }) => {
      const whole = { to: 'ada@example.com', subject: 'a', text: 'a', ...message }
      await mailer.send(whole, { now: true }).catch(() => undefined)
      mailOutbox.clear()
    })
  }

  it('has no line break in a file name, media type or Content-ID', async () => {
    const line = 'x\r\nBcc: eve@example.com'
    const attachments = [{ filename: line, contentType: `image/${line}`, cid: line, content: 'x' }]
    const received: Attachment[] = []
    await sent({ attachments }, (list) => void received.push(...list))
    expect(received).to.deep.equal([
      {
        filename: 'x Bcc: eve@example.com',
        contentType: 'image/x Bcc: eve@example.com',
        cid: 'x Bcc: eve@example.com',
        content: Buffer.from('x'),
      },
    ])
  })

  for (const failure of [undefined, new Error('full')])
    it(`is released after it was ${failure ? 'refused' : 'sent'}`, async () => {
      const contents: WeakRef<Buffer>[] = []
      const attachments = [{ filename: 'a', content: 'x'.repeat(100_000) }]
      await sent({ attachments }, ([attachment]) => {
        contents.push(new WeakRef(attachment!.content))
        return failure
      })
      expect([contents.length, await countKept(contents)]).to.deep.equal([1, 0])
    })
})

describe('A message that was sent', () => {
  it('is forgotten by its mailer, which waits for the others when it closes', () =>
    withMailApp({}, async ({ services: { mailer } }) => {
      const message = { to: 'ada@example.com', subject: 'Hello', text: 'Hi' }
      const send = async () => new WeakRef(await mailer.send(message, { now: true }))
      const result = await send()
      expect(await countKept([result])).to.equal(0)
    }))
})

describe('A message with null for a part that it does not have', () => {
  for (const part of ['text', 'html', 'cc', 'subject', 'headers', 'attachments'])
    it(`is sent without ${part}`, () =>
      withMailApp({}, async ({ services: { mailer, mailOutbox } }) => {
        const whole = { to: 'ada@example.com', subject: 'a', text: 'a', html: '<p>a' }
        const { id } = await mailer.send({ ...whole, [part]: null })
        expect(mailOutbox.find(id)).to.include({ status: 'sent' })
      }))
})

describe('The addresses of a message', () => {
  const sentTo = (to: string | string[]) =>
    withMailApp({}, async ({ services: { mailer, mailOutbox } }) => {
      const { id } = await mailer.send({ to, subject: 'Hello', text: 'Hi' })
      return mailOutbox.find(id)!.to
    })

  it('may be a list with commas, an array, with and without names', async () => {
    expect(await sentTo('ada@example.com, Bob <bob@example.com>')).to.equal(
      'ada@example.com, Bob <bob@example.com>',
    )
    expect(await sentTo(['"Lovelace, Ada" <ada@example.com>', 'root@localhost'])).to.equal(
      'Lovelace, Ada <ada@example.com>, root@localhost',
    )
    expect(await sentTo("o'hara+tag@sub.example.co.uk")).to.equal("o'hara+tag@sub.example.co.uk")
  })

  it('may have 254 characters, and not one more', async () => {
    const longest = `${'a'.repeat(242)}@example.com`
    expect(await sentTo(longest)).to.equal(longest)
    expect(await rejection(sentTo(`a${longest}`))).to.include({ code: 'MAIL_INVALID_MESSAGE' })
  })

  it('include the sender of the message, else of the configuration', async () => {
    await withMailApp({}, async ({ services: { mailer, mailOutbox } }) => {
      await mailer.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hi' })
      await mailer.send({
        to: 'ada@example.com',
        from: 'Bob <bob@other.example>',
        subject: 'Hello',
        html: '<p>',
      })
      expect(mailOutbox.list().map(({ from }) => from)).to.deep.equal([
        'Bob <bob@other.example>',
        'Mortar <hello@example.com>',
      ])
      expect(Object.fromEntries(mailOutbox.list()[0]!.headers)['Message-ID']).to.match(/@other\.example>$/)
    })
  })
})
