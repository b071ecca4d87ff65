import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StartupError } from '../errors/startup-error.ts'
import type { Listening } from './app.ts'
import { createHttpServer, type ListenerState } from './listener.ts'

/** The HTTP server of an application while it runs. */
export interface RunningServer extends Listening {
  /** Accepts nothing new, lets requests in flight finish for at most `timeout` seconds, and ends every connection. */
  drain(timeout: number): Promise<void>
}

/** Starts to listen. @throws StartupError when the address cannot be had. */
export async function startServer(
  handle: (req: IncomingMessage, res: ServerResponse) => void,
  address: { readonly port: number; readonly host: string | undefined },
  state: ListenerState,
): Promise<RunningServer> {
  const server = createHttpServer(handle)
  await bind(server, address)
  const { port, address: host } = server.address() as AddressInfo
  return {
    url: `http://${hostForUrl(host)}:${port}`,
    port,
    host,
    drain: (timeout) => drain(server, timeout, state),
  }
}

function bind(server: Server, { port, host }: { port: number; host: string | undefined }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(cannotListen(cause, port)))
    server.listen({ port, ...(host === undefined ? {} : { host }) }, resolve)
  })
}

function cannotListen(cause: NodeJS.ErrnoException, port: number): StartupError {
  const remedies: Readonly<Record<string, string>> = {
    EADDRINUSE: 'Stop the process that uses it, or set PORT to another one.',
    EACCES: 'Take a port above 1023, or give the process the right to use this one.',
  }
  return new StartupError(`The application cannot listen on port ${port}: ${cause.code ?? cause.message}.`, {
    code: 'MORTAR_LISTEN',
    remedy: remedies[cause.code ?? ''] ?? 'Check host and port.',
    cause,
  })
}

async function drain(server: Server, timeout: number, state: ListenerState): Promise<void> {
  state.closing = true
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), timeout * 1000)
  await closed
  clearTimeout(timer)
}

/** An unspecified address is reached through the loopback one, and IPv6 stands in brackets (RFC 3986 §3.2.2). */
function hostForUrl(host: string): string {
  if (host === '::' || host === '0.0.0.0') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
