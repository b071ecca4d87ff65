import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** A message as the server took it: the envelope of the SMTP dialogue and the message itself. */
export interface ReceivedMail {
  readonly envelope: { readonly from: string; readonly to: readonly string[] }
  readonly raw: Buffer
}

/** A real SMTP server on a free port of this machine. */
export interface TestSmtpServer {
  readonly port: number
  readonly received: readonly ReceivedMail[]
  close(): Promise<void>
}

/** Behaviour of the server besides accepting every message. */
export interface TestSmtpOptions {
  /** TLS from the first byte. */
  readonly secure?: boolean
  /** The only accepted login; if absent, the server requires no login. */
  readonly login?: { readonly user: string; readonly password: string }
  /** Recipients that it refuses with 550. */
  readonly refuse?: readonly string[]
}

/** Starts the server; its messages are in `received` as soon as the client has its response. */
export async function startSmtpServer(options: TestSmtpOptions = {}): Promise<TestSmtpServer> {
  const received: ReceivedMail[] = []
  const { login } = options
  const server = new SMTPServer({
    logger: false,
    secure: options.secure ?? false,
    disabledCommands: login ? ['STARTTLS'] : ['STARTTLS', 'AUTH'],
    authOptional: login === undefined,
    allowInsecureAuth: true,
    closeTimeout: 10,
    onAuth: (auth, _session, done) =>
      auth.username === login?.user && auth.password === login?.password
        ? done(null, { user: auth.username })
        : done(new Error(`No ${auth.username} with ${auth.password} here`)),
    onRcptTo: ({ address }, _session, done) =>
      options.refuse?.includes(address)
        ? done(Object.assign(new Error('No such mailbox'), { responseCode: 550 }))
        : done(),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom ? mailFrom.address : ''
        received.push({
          envelope: { from, to: rcptTo.map(({ address }) => address) },
          raw: Buffer.concat(chunks),
        })
        done()
      })
    },
  })
  server.on('error', () => undefined)
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    received,
    async close() {
      const closed = once(listener, 'close')
      server.close()
      await closed
    },
  }
}
