import { spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { createTransport, type Transport } from 'nodemailer'
import type { MailOptions } from '@mortar/mail'
import { ROOT } from '../../architecture/tree.ts'
import { rejection, startMailApp, withMailApp } from './mail-app.ts'
import { startSmtpServer } from './smtp-server.ts'

const MESSAGE = { to: 'ada@example.com', subject: 'Hello', text: 'Hi' }

describe('A message that is not sent', () => {
  /** Sends one message that fails. Returns the error and the message of the outbox. */
  const failing = (options: Partial<MailOptions>, message: object = {}) =>
    withMailApp(options, async ({ services: { mailer, mailOutbox } }) => {
      const error = await rejection(mailer.send({ ...MESSAGE, ...message }, { now: true }))
      return { error, kept: mailOutbox.list() }
    })

  const custom = (send: (done: Parameters<Transport['send']>[1]) => unknown): Partial<MailOptions> => ({
    transport: { name: 'custom', version: '1', send: (_mail, done) => send(done) as void },
  })

  it('rejects with the message of the transport and is marked in the outbox', async () => {
    const { error, kept } = await failing(
      custom((done) => done(Object.assign(new Error('full'), { code: 'EFULL' }))),
    )
    expect(error).to.include({ name: 'MailError', code: 'MAIL_NOT_SENT', reason: 'EFULL' })
    expect(error.message).to.equal('The mail was not sent: full')
    expect(kept).to.have.length(1)
    expect(kept[0]).to.include({ id: error['id'], status: 'failed', error: error.message })
  })

  it('rejects when the transport throws, or when its send is an async function that rejects', async () => {
    const thrown = await failing(
      custom(() => {
        throw new Error('thrown')
      }),
    )
    expect(thrown.error).to.include({ code: 'MAIL_NOT_SENT', message: 'The mail was not sent: thrown' })
    const rejected = await failing(custom(() => Promise.reject(new Error('rejected'))))
    expect(rejected.error).to.include({ code: 'MAIL_NOT_SENT', message: 'The mail was not sent: rejected' })
    const text = await failing(custom(() => Promise.reject('a string')))
    expect(text.error).to.include({ code: 'MAIL_NOT_SENT', message: 'The mail was not sent: a string' })
  })

  it('rejects once when the transport responds after the time limit', async () => {
    const answers: (() => void)[] = []
    const hanging = custom((done) => answers.push(() => done(new Error('too late'))))
    const { error, kept } = await failing({ ...hanging, timeout: '20ms' })
    for (const answer of answers) answer()
    expect(error).to.include({ name: 'MailError', code: 'MAIL_TIMEOUT', id: kept[0]!.id })
    expect(error.message).to.equal('The mail was not sent: the transport took longer than 0.02 s.')
    expect(kept[0]).to.include({ status: 'failed', error: error.message })
  })

  it('closes a connection to a server that never responds', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const closed = once(silent, 'connection').then(([socket]) => once(socket.resume(), 'close'))
    const { port } = silent.address() as AddressInfo
    const begun = performance.now()
    const { error } = await failing({ transport: `smtp://127.0.0.1:${port}`, timeout: '50ms' })
    expect(error).to.include({ code: 'MAIL_TIMEOUT', reason: 'ETIMEDOUT' })
    await closed
    // nodemailer would close it by itself, 30 s after the connection.
    expect(performance.now() - begun).to.be.below(20_000)
    silent.close()
  })

  it('does not show a recipient that the transport names', async () => {
    const words =
      'No <ADA@Example.com> here, nor b.ob+news@example.com or eve@example.com; ask postmaster@example.com'
    const recipients = { to: 'Ada <ada@example.com>', cc: ['b.ob+news@example.com'], bcc: 'eve@example.com' }
    const { error, kept } = await failing(
      custom((done) => done(new Error(words))),
      recipients,
    )
    expect(error.message).to.equal(
      'The mail was not sent: No <***> here, nor *** or ***; ask postmaster@example.com',
    )
    expect(kept[0]).to.include({ error: error.message })
    expect(inspect(error, { depth: 9 })).not.to.match(/ada@|b\.ob@|eve@/i)
  })

  it('does not show a credential that the transport names', async () => {
    const server = await startSmtpServer({ login: { user: 'someone', password: 'else' } })
    const url = `smtp://robot:${encodeURIComponent('hunter2&söcret')}@127.0.0.1:${server.port}`
    const { error, kept } = await failing({ transport: url })
    await server.close()
    expect(error).to.include({ code: 'MAIL_NOT_SENT', reason: 'EAUTH', responseCode: 535, permanent: true })
    // This server quotes the password in its reply.
    expect(error.message).to.contain('No robot with *** here')
    for (const shown of [inspect(error, { depth: 9 }), JSON.stringify(kept)]) {
      expect(shown).not.to.contain('hunter2')
      expect(shown).not.to.contain(encodeURIComponent('hunter2&söcret'))
    }
  })

  it('does not show a credential in the base64 of AUTH LOGIN, AUTH PLAIN or XOAUTH2', async () => {
    const options = { auth: { user: 'robot', pass: 'hunter2&söcret' } }
    const plain = [
      'hunter2&söcret',
      '\0robot\0hunter2&söcret',
      'user=robot\u0001auth=Bearer hunter2&söcret\u0001\u0001',
    ]
    for (const command of plain.map((text) => Buffer.from(text).toString('base64'))) {
      const { error, kept } = await failing({
        transport: {
          name: 'quoting',
          version: '1',
          options,
          send: (_mail: unknown, done: (error: Error) => void) =>
            done(new Error(`Unexpected AUTH ${command} here`)),
        } as Transport,
      })
      expect(error.message).to.equal('The mail was not sent: Unexpected AUTH *** here')
      expect(inspect(error, { depth: 9 }) + JSON.stringify(kept)).not.to.contain(command)
    }
  })

  it('does not show a credential of options or of a transporter', async () => {
    const options = { auth: { user: 'robot', pass: 'hunter2' }, dkim: { privateKey: 'dkim-private' } }
    const leaking: Transport = {
      name: 'leaking',
      version: '1',
      send: () => {
        throw new Error('smtp://robot:other@host said no to hunter2 and dkim-private')
      },
    }
    for (const transport of [
      Object.assign(leaking, { options }),
      createTransport(Object.assign(leaking, { options })),
    ]) {
      const { error } = await failing({ transport })
      expect(inspect(error, { depth: 9 })).not.to.match(/hunter2|dkim-private|other/)
    }
  })

  it('does not show the rest of a credential that contains another one', async () => {
    const [short, long] = ['hunter2', 'hunter2-and-more']
    for (const auth of [
      { pass: short, token: long },
      { pass: long, token: short },
    ]) {
      const quoting = custom((done) => done(new Error(`no ${long}, no ${short}`)))
      const { error } = await failing({
        transport: { ...(quoting.transport as Transport), auth },
      })
      expect(error.message).to.equal('The mail was not sent: no ***, no ***')
    }
  })

  it('reports that a rejected recipient is a permanent failure', async () => {
    const server = await startSmtpServer({ refuse: ['ada@example.com'] })
    const { error } = await failing({ transport: { host: '127.0.0.1', port: server.port } })
    await server.close()
    expect(error).to.include({ code: 'MAIL_NOT_SENT', responseCode: 550, permanent: true })
  })

  it('reports that an unreachable server is a temporary failure', async () => {
    const server = await startSmtpServer()
    await server.close()
    const { error } = await failing({ transport: { host: '127.0.0.1', port: server.port } })
    expect(error).to.include({ code: 'MAIL_NOT_SENT', permanent: false })
    expect(error.message).to.contain('ECONNREFUSED')
  })

  it('does not fail other messages', async () => {
    const options = custom((done) => done(new Error('full')))
    await withMailApp(options, async ({ services: { mailer, mailOutbox } }) => {
      const results = await Promise.allSettled([
        mailer.send(MESSAGE, { now: true }),
        mailer.send({ ...MESSAGE, subject: 'Two' }, { now: true }),
      ])
      expect(results.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
      expect(mailOutbox.list().map(({ status }) => status)).to.deep.equal(['failed', 'failed'])
    })
  })
})

describe('A message that is partly refused', () => {
  it('resolves, because the transport accepted other recipients, and is logged', async () => {
    const server = await startSmtpServer({ refuse: ['bob@example.com'] })
    const lines: string[] = []
    const warn = (...line: unknown[]) => void lines.push(String(line.at(-1)))
    const logger = { debug: () => {}, info: () => {}, warn, error: warn, child: () => logger }
    const app = await startMailApp({ transport: { host: '127.0.0.1', port: server.port } }, { logger })
    const { mailer, mailOutbox } = app.services
    const { id } = await mailer.send({ ...MESSAGE, to: ['ada@example.com', 'bob@example.com'] })
    expect(mailOutbox.find(id)).to.include({ status: 'sent' })
    expect(lines).to.deep.equal([`Mail ${id}: 1 of its recipients were refused.`])
    await app.close()
    expect(server.received[0]!.envelope.to).to.deep.equal(['ada@example.com'])
    await server.close()
  })

  it('is sent without a text part if the converter of HTML cannot be loaded', () => {
    const hook = `export function resolve(name, context, next) {
      if (name === 'html-to-text') throw new Error('EMFILE')
      return next(name, context)
    }`
    const code = `import { register } from 'node:module'
      register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)})
      const { textOfHtml } = await import('./plugins/mail/text-of-html.ts')
      process.stdout.write(String(await textOfHtml('<p>Hello</p>')))`
    const args = ['--import', 'tsx', '--input-type=module', '--eval', code]
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
    expect(stdout, stderr).to.equal('undefined')
  })
})
