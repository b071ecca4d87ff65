import { mock } from 'node:test'
import { expect } from 'chai'
import { createRouter, createApp, value, type Mailer } from 'mortar'
import { mail, type MailOptions } from '@mortar/mail'
import { loadNodemailer } from '../../../plugins/mail/nodemailer.ts'
import { mailApp, rejection, startMailApp, withMailApp } from './mail-app.ts'

const MESSAGE = { to: 'ada@example.com', subject: 'Hello', text: 'Hi' }

describe('The mail brick', () => {
  it('gives handlers ctx.mail, which is the service mailer', async () => {
    const app = mailApp()
    app.use(
      createRouter().post('/send', async (ctx) => {
        expect(ctx['mail']).to.equal(ctx.services['mailer'])
        return (ctx['mail'] as Mailer).send(MESSAGE)
      }),
    )
    const sent = await app.inject({ method: 'POST', url: '/send' })
    expect(sent.statusCode).to.equal(200)
    expect(app.services.mailOutbox.find(sent.json<{ id: string }>().id)).to.include({ subject: 'Hello' })
    await app.close()
  })

  it('keeps the outboxes of two applications apart, also with one brick', async () => {
    const brick = mail({ from: 'hello@example.com', transport: 'memory' })
    const [one, two] = [createApp({ logger: false }).use(brick), createApp({ logger: false }).use(brick)]
    await Promise.all([one.ready(), two.ready()])
    await one.services.mailer.send(MESSAGE)
    expect(two.services.mailOutbox.list()).to.deep.equal([])
    await Promise.all([one.close(), two.close()])
  })

  it('dates messages by the clock of the application', async () => {
    const now = Date.UTC(2030, 0, 2, 3, 4, 5)
    const app = await startMailApp({}, { clock: { now: () => now } })
    await app.services.mailer.send(MESSAGE)
    const [kept] = app.services.mailOutbox.list()
    await app.close()
    expect(kept!.date.getTime()).to.equal(now)
    expect(Object.fromEntries(kept!.headers)['Date']).to.equal('Wed, 02 Jan 2030 03:04:05 +0000')
  })

  it('starts and stops when a test replaced the mailer', async () => {
    const fake: Mailer = { send: () => Promise.resolve({ id: 'fake' }) }
    const app = mailApp().override({ mailer: value(fake) })
    await app.ready()
    expect(await app.services.mailer.send(MESSAGE)).to.deep.equal({ id: 'fake' })
    await app.close()
  })

  it('finishes the messages under way before it stops, and closes the transport', async () => {
    const events: string[] = []
    const answers: (() => void)[] = []
    const app = await startMailApp({
      transport: {
        name: 'slow',
        version: '1',
        send: ({ message }, done) => {
          answers.push(() => {
            events.push('sent')
            done(null, { envelope: message.getEnvelope(), messageId: message.messageId() })
          })
        },
        close: () => events.push('closed'),
      },
    })
    const sending = app.services.mailer.send(MESSAGE)
    while (answers.length === 0) await new Promise(setImmediate)
    const closing = app.close()
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
    expect(events).to.deep.equal([])
    answers[0]!()
    await Promise.all([sending, closing])
    expect(events).to.deep.equal(['sent', 'closed'])
  })

  for (const [behaviour, count] of [
    ['opens its transport a second after the start', 1],
    ['opens no transport after it has stopped', 0],
  ] as const)
    it(behaviour, async () => {
      const open = mock.method(loadNodemailer(), 'createTransport')
      mock.timers.enable({ apis: ['setTimeout'] })
      try {
        const app = await startMailApp()
        if (count === 0) await app.close()
        mock.timers.tick(999)
        expect(open.mock.callCount()).to.equal(0)
        mock.timers.tick(1)
        expect(open.mock.callCount()).to.equal(count)
        await app.close()
      } finally {
        mock.timers.reset()
        open.mock.restore()
      }
    })

  it('opens its transport again for the next message, after a failure', async () => {
    const app = await startMailApp()
    const open = mock.method(loadNodemailer(), 'createTransport')
    open.mock.mockImplementationOnce(() => {
      throw new Error('EMFILE: too many open files')
    })
    try {
      const error = await rejection(app.services.mailer.send(MESSAGE))
      expect(error.message).to.contain('EMFILE')
      await app.services.mailer.send(MESSAGE)
      expect(app.services.mailOutbox.list()).to.have.length(1)
    } finally {
      open.mock.restore()
      await app.close()
    }
  })

  it('logs what a transport reports outside a message, instead of ending the process', async () => {
    const lines: string[] = []
    const logger = {
      debug() {},
      info() {},
      warn: (text: string) => lines.push(text),
      error() {},
      child: () => logger,
    }
    const listeners: ((error: Error) => void)[] = []
    const transport = {
      name: 'events',
      version: '1',
      pass: 'hunter2',
      send: () => undefined,
      on(event: string, listener: (error: Error) => void) {
        if (event === 'error') listeners.push(listener)
        return this
      },
    }
    const app = await startMailApp({ transport }, { logger: logger as never })
    for (const listener of listeners) listener(new Error('lost the connection of hunter2'))
    await app.close()
    expect(lines).to.deep.equal(['Mail transport: lost the connection of ***'])
  })

  describe('in production', () => {
    const production = { environment: 'production', logger: false } as const

    it('does not start without a transport, and reports the remedy', async () => {
      for (const transport of [undefined, '']) {
        const error = await rejection(mailApp({ transport }, production).ready())
        expect(error).to.include({ name: 'StartupError', code: 'MORTAR_MAIL_NO_TRANSPORT' })
        expect(error.message).to.contain("transport: 'smtps://user:pass@host'")
      }
    })

    it('warns of a transport that sends nothing', async () => {
      for (const transport of ['memory', 'terminal', 'sendmail'] as const) {
        const lines: string[] = []
        const warn = (line: string): unknown => lines.push(line)
        const logger = { debug() {}, info() {}, warn, error() {}, child: () => logger }
        await (await startMailApp({ transport }, { ...production, logger: logger as never })).close()
        const expected = `This application runs in production with the mail transport '${transport}', which sends nothing.`
        expect(lines).to.deep.equal(transport === 'sendmail' ? [] : [expected])
      }
    })

    it('sends without a page and without keeping messages', async () => {
      const app = await startMailApp({}, production)
      const { id } = await app.services.mailer.send(MESSAGE)
      expect(id).to.be.a('string')
      expect(app.services.mailer.pageOf?.(id)).to.equal(undefined)
      expect(app.services.mailOutbox.list()).to.deep.equal([])
      for (const path of ['', `/${id}`, `/${id}/html`, `/${id}/attachments/0`]) {
        const response = await app.inject(`/_framework/mail${path}`)
        expect(response.statusCode, path).to.equal(404)
        expect(response.body).not.to.contain('Hello')
      }
      await app.close()
    })
  })

  describe('refuses to start with', () => {
    const wrong: Record<string, [Partial<MailOptions>, string]> = {
      'a `from` that is not an address': [{ from: 'nobody' }, 'from'],
      'two senders': [{ from: 'a@example.com, b@example.com' }, 'from'],
      'a from that is broken': [{ from: 'A <a@example.com' }, 'from'],
      'no from': [{ from: undefined as unknown as string }, 'from'],
      'an unknown transport': [{ transport: 'pigeon-s3cret' }, 'transport'],
      'a URL of another scheme': [{ transport: 'http://user:s3cret@host' }, 'transport'],
      'a URL that cannot be read': [{ transport: 'smtp://user:s3cret@host:port' }, 'transport'],
      'a transport that is a list': [{ transport: ['s3cret'] as never }, 'transport'],
      'a timeout that cannot be read': [{ timeout: 'soon' }, 'timeout'],
      'a timeout of nothing': [{ timeout: 0 }, 'timeout'],
      'a timeout beyond a timer': [{ timeout: '30d' }, 'timeout'],
      'a size that is not a valid number': [{ outbox: { size: -1 } }, 'outbox.size'],
      'bytes that cannot be read': [{ outbox: { bytes: 'much' } }, 'bytes'],
    }
    for (const [what, [options, named]] of Object.entries(wrong))
      it(`${what}, and names the option`, async () => {
        const error = await rejection(startMailApp(options))
        expect(error).to.include({ name: 'StartupError', brick: 'mail' })
        expect(error.message).to.contain(named).and.not.to.contain('s3cret')
      })
  })

  it('returns the page of a message as a path, or as a full URL when appUrl is set', async () => {
    await withMailApp({}, async ({ services }) => {
      expect(services.mailer.pageOf?.('a/b')).to.equal('/_framework/mail/a%2Fb')
    })
    const app = await startMailApp({}, { appUrl: 'http://localhost:3000' })
    expect(app.services.mailer.pageOf?.('abc')).to.equal('http://localhost:3000/_framework/mail/abc')
    await app.close()
  })
})
