import type { Transport } from 'nodemailer'

type Send = Transport['send']

/**
 * Wraps the application's own transport. nodemailer calls `send` from a callback: an exception, or the rejection of an
 * async `send`, would end the process instead of failing one message.
 */
export function guardTransport(transport: Transport): Transport {
  const send: Send = (mail, done) => {
    const fail = (error: unknown): void => done(error instanceof Error ? error : new Error(String(error)))
    try {
      const result: unknown = transport.send(mail, done)
      if (result instanceof Promise) result.catch(fail)
    } catch (error) {
      fail(error)
    }
  }
  return {
    name: transport.name,
    version: transport.version,
    send,
    close: (...options: unknown[]) => transport.close?.(...options) as unknown,
  }
}
