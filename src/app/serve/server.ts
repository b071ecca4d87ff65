import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import { channel } from 'node:diagnostics_channel'
import type { AddressInfo } from 'node:net'
import { StartupError } from '../../errors/startup-error.ts'
import { takeActivationSocket } from '../../support/env/activation-socket.ts'
import type { Listening } from '../app.ts'
import { answerBrokenRequests, continueWhenRead, refuseWrongHost } from './broken-request.ts'
import { drain, trackConnections } from '../life/drain.ts'
import type { BindAddress, ListenPlan } from './listen-options.ts'

// Not an import, because that would load undici; see src/errors/status-names.ts.
const { createServer } = process.getBuiltinModule('node:http')

/** The HTTP server of an application while it runs. */
export interface RunningServer extends Listening {
  /**
   * Accepts nothing new, lets requests in flight finish for at most `timeout` seconds, and ends every connection. Returns
   * the requests that had not finished by then.
   */
  drain(timeout: number): Promise<readonly IncomingMessage[]>
}

/** Published on the channel `LISTEN` before a server binds its address. A subscriber that binds it sets `bound`. */
export interface ListenRequest {
  readonly server: Server
  readonly address: BindAddress
  bound?: Promise<void>
}

/** Name of the diagnostics channel of every `ListenRequest`. `mortar dev` keeps the port open during restarts. */
export const LISTEN = 'mortar:listen'

type Handle = (req: IncomingMessage, res: ServerResponse) => void

/** Starts to listen. @throws StartupError when the address cannot be bound or the TLS options are wrong. */
export async function startServer(handle: Handle, plan: ListenPlan): Promise<RunningServer> {
  const server = await createHttpServer(handle, plan)
  const connections = trackConnections(server, plan.tls !== undefined)
  await bind(server, plan.address)
  return { ...locationOf(server, plan), server, drain: (timeout) => drain(server, connections, timeout) }
}

async function createHttpServer(handle: Handle, plan: ListenPlan): Promise<Server | TlsServer> {
  const { tls, maxHeaderSize, maxConnections, keepAliveTimeout } = plan
  const options = {
    keepAliveTimeout,
    headersTimeout: plan.headersTimeout,
    requestTimeout: plan.requestTimeout,
    connectionsCheckingInterval: plan.connectionsCheckingInterval,
    // Node would refuse a missing Host with an empty response; refuseWrongHost sends a problem document.
    requireHostHeader: false,
    ...(maxHeaderSize === undefined ? {} : { maxHeaderSize }),
  }
  const listener: Handle = (req, res) => {
    if (!refuseWrongHost(req, res)) handle(req, res)
  }
  const server =
    tls === undefined
      ? createServer(options, listener)
      : await createTlsServer({ ...tls, ...options }, listener)
  if (maxConnections !== undefined) server.maxConnections = maxConnections
  answerBrokenRequests(server)
  continueWhenRead(server)
  return server
}

async function createTlsServer(options: object, listener: Handle): Promise<TlsServer> {
  const https = await import('node:https')
  try {
    return https.createServer(options, listener)
  } catch (cause) {
    throw new StartupError(`The option tls of listen() cannot be used: ${(cause as Error).message}.`, {
      code: 'MORTAR_LISTEN',
      remedy: 'Pass a key and a certificate that match: tls: { key, cert }.',
      cause,
    })
  }
}

function bind(server: Server, address: BindAddress): Promise<void> {
  const request: ListenRequest = { server, address }
  channel(LISTEN).publish(request)
  return (
    request.bound?.catch((cause: unknown) => {
      throw cannotListen(cause as NodeJS.ErrnoException, address)
    }) ?? bindItself(server, address)
  )
}

function bindItself(server: Server, address: BindAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: NodeJS.ErrnoException): void => reject(cannotListen(cause, address))
    server.once('error', refuse)
    const bound = (): void => {
      server.off('error', refuse)
      resolve()
    }
    try {
      // systemd passes sockets of its units only to the process that it starts.
      const fd = takeActivationSocket()
      if (fd !== undefined) server.listen({ fd }, bound)
      else if ('path' in address) server.listen({ path: address.path }, bound)
      else {
        const { port, host } = address
        server.listen({ port, ...(host === undefined ? {} : { host }) }, bound)
      }
    } catch (cause) {
      // The port is not a number from 0 to 65535.
      refuse(cause as NodeJS.ErrnoException)
    }
  })
}

function cannotListen(cause: NodeJS.ErrnoException, address: BindAddress): StartupError {
  const where = 'path' in address ? address.path : `port ${address.port} of ${address.host ?? 'any address'}`
  const remedies = 'path' in address ? SOCKET_REMEDIES : PORT_REMEDIES
  return new StartupError(`The application cannot listen on ${where}: ${cause.code ?? cause.message}.`, {
    code: 'MORTAR_LISTEN',
    remedy: remedies[cause.code ?? ''] ?? remedies.other,
    cause,
  })
}

/** By the code of the error, and for any other. */
type Remedies = Readonly<Record<string, string>> & { readonly other: string }

const PORT_REMEDIES: Remedies = {
  EADDRINUSE: 'Stop the process that uses it, or set PORT to another port.',
  EACCES: 'Use a port above 1023, or give the process permission to use this one.',
  EADDRNOTAVAIL: 'Set HOST to an address of this machine, or to 0.0.0.0 for all of them.',
  ENOTFOUND: 'Set HOST to an address of this machine, or to 0.0.0.0 for all of them.',
  other: 'Check host and port.',
}

const SOCKET_REMEDIES: Remedies = {
  EADDRINUSE: 'Stop the process that uses it, or remove the file if a killed process has left it.',
  // Node reports a folder that does not exist as EACCES.
  other: 'Make its folder, and give the process permission to write to it.',
}

function locationOf(server: Server, { tls }: ListenPlan): Omit<Listening, 'server'> {
  const scheme = tls === undefined ? 'http' : 'https'
  const bound = server.address() as AddressInfo | string
  if (typeof bound === 'string') return { url: `${scheme}+unix:${bound}`, port: 0, host: bound }
  const { port, address: host } = bound
  return { url: `${scheme}://${hostForUrl(host)}:${port}`, port, host }
}

/** Returns the host for a URL: localhost for an unspecified address, IPv6 in brackets (RFC 3986 §3.2.2). */
function hostForUrl(host: string): string {
  if (host === '::' || host === '0.0.0.0') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
