import { createTransport, type Transport } from 'nodemailer'
import { describeTransport } from './transport-suite.ts'
import { startSmtpServer, type ReceivedMail } from './smtp-server.ts'

const LOGIN = { user: 'post master', password: 'p@ss/wörd:1' }
const USER = encodeURIComponent(LOGIN.user)
const PASSWORD = encodeURIComponent(LOGIN.password)

describeTransport("by the name 'memory'", () => ({ options: { transport: 'memory' } }))

describeTransport("by the name 'terminal'", () => ({
  options: { transport: 'terminal', output: { write: () => true } },
}))

describeTransport("by the name 'smtp'", async () => {
  const server = await startSmtpServer()
  return { ...server, options: { transport: 'smtp', smtp: { host: '127.0.0.1', port: server.port } } }
})

describeTransport('by an smtp:// URL with a login', async () => {
  const server = await startSmtpServer({ login: LOGIN })
  return { ...server, options: { transport: `smtp://${USER}:${PASSWORD}@127.0.0.1:${server.port}` } }
})

describeTransport('by an smtps:// URL', async () => {
  const server = await startSmtpServer({ secure: true, login: LOGIN })
  const query = 'tls.rejectUnauthorized=false'
  return {
    ...server,
    options: { transport: `smtps://${USER}:${PASSWORD}@127.0.0.1:${server.port}?${query}` },
  }
})

describeTransport("by nodemailer's options, with a pool", async () => {
  const server = await startSmtpServer()
  return { ...server, options: { transport: { host: '127.0.0.1', port: server.port, pool: true } } }
})

describeTransport('by a nodemailer transport', () => {
  const received: ReceivedMail[] = []
  return { received, options: { transport: collectingTransport(received) } }
})

describeTransport('by a nodemailer transporter', () => {
  const received: ReceivedMail[] = []
  return { received, options: { transport: createTransport(collectingTransport(received)) } }
})

function collectingTransport(received: ReceivedMail[]): Transport {
  return {
    name: 'collecting',
    version: '1',
    send(mail, done) {
      const { from, to } = mail.message.getEnvelope()
      mail.message.build((error, raw) => {
        if (error || !raw) return done(error ?? new Error('nothing was built'))
        received.push({ envelope: { from: from || '', to }, raw })
        done(null, { envelope: mail.message.getEnvelope(), messageId: mail.message.messageId() })
      })
    },
  }
}
