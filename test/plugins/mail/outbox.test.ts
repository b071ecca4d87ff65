import { expect } from 'chai'
import { createOutbox, type OutboxMessage } from '../../../plugins/mail/outbox.ts'
import { withMailApp } from './mail-app.ts'

describe('The outbox', () => {
  const message = (id: string, bytes = 10): OutboxMessage => ({
    id,
    bytes,
    date: new Date(0),
    status: 'sending',
    from: 'hello@example.com',
    to: 'ada@example.com',
    cc: '',
    bcc: '',
    replyTo: '',
    subject: id,
    text: id,
    html: null,
    headers: [],
    attachments: [],
    images: new Map(),
    source: async () => Buffer.from(id),
  })
  const ids = (outbox: ReturnType<typeof createOutbox>) => outbox.list().map(({ id }) => id)

  it('lists the newest first and drops the oldest beyond its size', () => {
    const outbox = createOutbox({ size: 3, bytes: 1000 })
    for (const id of ['a', 'b', 'c', 'd']) outbox.add(message(id))
    expect(ids(outbox)).to.deep.equal(['d', 'c', 'b'])
    expect(outbox.find('a')).to.equal(undefined)
  })

  it('drops the oldest beyond its bytes, but never the newest', () => {
    const outbox = createOutbox({ size: 10, bytes: 100 })
    outbox.add(message('a', 60))
    outbox.add(message('b', 30))
    outbox.add(message('c', 20))
    expect(ids(outbox)).to.deep.equal(['c', 'b'])
    outbox.add(message('huge', 5000))
    expect(ids(outbox)).to.deep.equal(['huge'])
  })

  it('records the outcome of a message, and ignores one that was dropped', () => {
    const outbox = createOutbox({ size: 2, bytes: 1000 })
    outbox.add(message('a'))
    outbox.add(message('b'))
    outbox.settle('a', {})
    outbox.settle('b', { error: 'full' })
    outbox.settle('gone', {})
    expect(outbox.list().map(({ id, status, error }) => ({ id, status, error }))).to.deep.equal([
      { id: 'b', status: 'failed', error: 'full' },
      { id: 'a', status: 'sent', error: undefined },
    ])
    outbox.clear()
    expect(ids(outbox)).to.deep.equal([])
  })

  it('shows a header that is folded on the wire as one line', () =>
    withMailApp({}, async ({ services: { mailer, mailOutbox } }) => {
      const subject = 'word '.repeat(40).trim()
      const to = Array.from({ length: 9 }, (_, index) => `reader-${index}@example.com`)
      await mailer.send({ to, subject, text: 'x' })
      const headers = new Map(mailOutbox.list()[0]!.headers)
      expect(headers.get('Subject')).to.equal(subject)
      expect(headers.get('To')).to.equal(to.join(', '))
    }))

  const parts = {
    text: { text: 'x'.repeat(600) },
    html: { text: 'x', html: 'x'.repeat(600) },
    attachment: { text: 'x', attachments: [{ filename: 'a', content: 'x'.repeat(600) }] },
  }
  for (const [part, given] of Object.entries(parts))
    it(`counts the ${part} of a message`, () =>
      withMailApp({ outbox: { bytes: 1000 } }, async ({ services: { mailer, mailOutbox } }) => {
        for (const subject of ['one', 'two']) await mailer.send({ to: 'ada@example.com', subject, ...given })
        expect(mailOutbox.list().map(({ subject }) => subject)).to.deep.equal(['two'])
      }))
})
