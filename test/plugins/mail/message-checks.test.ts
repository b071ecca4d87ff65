import { expect } from 'chai'
import type { MailMessage } from '../../../src/index.ts'
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
