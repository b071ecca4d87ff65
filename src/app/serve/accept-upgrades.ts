import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { closeResponse, currentResponse } from '../../compat/node.ts'
import type { AdapterState } from '../../context/adapter-state.ts'
import { type HeldConnection, holdConnection, whenReleased } from '../../context/takeover.ts'
import { announcesBody } from '../../support/announces-body.ts'
import { ignore } from '../../support/ignore.ts'

// Not an import, because that would load undici; see src/errors/status-names.ts.
const http = process.getBuiltinModule('node:http')

/** Milliseconds for a client to read a response that refuses its upgrade. */
const LINGER = 2000

/**
 * Makes requests of a server that ask for one of the protocols ordinary requests of that server: its own listener, a Koa
 * application around this one and the pipeline treat them as any GET, and respond if they refuse. Other upgrade requests
 * are served as if they had not asked, as Node does without a listener (RFC 9110 §7.8), unless the server has another
 * listener.
 */
export function acceptUpgrades(
  server: Server,
  protocols: ReadonlySet<string>,
  state: Pick<AdapterState, 'draining'>,
): void {
  if (protocols.size === 0) return
  const isDraining = (): boolean => state.draining
  const listensAlone = (): boolean => server.listenerCount('upgrade') === 1
  // Node 24.9 and later ask before they give the connection away.
  if ('shouldUpgradeCallback' in server)
    server.shouldUpgradeCallback = (req: IncomingMessage) =>
      !listensAlone() || protocolOf(req, protocols) !== undefined
  server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    const protocol = protocolOf(req, protocols)
    if (protocol === undefined && !listensAlone()) return
    if (socket.listenerCount('error') === 0) socket.on('error', ignore)
    afterEarlier(socket, () => {
      if (protocol === undefined) return serveAsHttp(server, req, { socket, head })
      holdConnection(req, { protocol, socket, head, isDraining })
      serve(server, req, socket)
    })
  })
}

/** Returns the protocols that bricks speak. */
export function protocolsOf(
  bricks: readonly { readonly upgrades?: readonly string[] }[],
): ReadonlySet<string> {
  return new Set(bricks.flatMap(({ upgrades = [] }) => upgrades))
}

/** Returns the first protocol of the header `Upgrade` that is among these; undefined for a request with a body. */
function protocolOf(req: IncomingMessage, protocols: ReadonlySet<string>): string | undefined {
  if (req.method !== 'GET' || announcesBody(req)) return undefined
  const wanted = req.headers.upgrade?.toLowerCase().split(',') ?? []
  return wanted.map((each) => each.trim()).find((each) => protocols.has(each))
}

/** Waits for the responses to requests that the client has sent ahead. */
function afterEarlier(socket: Duplex, act: () => void): void {
  const earlier = currentResponse(socket as IncomingMessage['socket'])
  if (earlier !== undefined) earlier.once('close', () => afterEarlier(socket, act))
  else if (!socket.destroyed) act()
}

function serve(server: Server, req: IncomingMessage, socket: Duplex): void {
  const res = new http.ServerResponse(req)
  res.shouldKeepAlive = false
  res.assignSocket(socket as IncomingMessage['socket'])
  // Node reports it only to responses of its own, and a stream waits for it.
  const drain = (): void => void res.emit('drain')
  const forget = (): void => {
    socket.off('drain', drain)
    res.off('close', forget)
  }
  socket.on('drain', drain)
  res.once('finish', () => refuseRest(res, socket)).on('close', forget)
  whenReleased(req, () => {
    forget()
    if (socket.listenerCount('error') > 1) socket.off('error', ignore)
  })
  server.emit('request', req, res)
}

/** Ends a connection whose response is sent. What the client has sent ahead is read, so that no reset loses the response. */
function refuseRest(res: ServerResponse, socket: Duplex): void {
  res.detachSocket(socket as IncomingMessage['socket'])
  closeResponse(res)
  socket.resume().end()
  const timer = setTimeout(() => socket.destroy(), LINGER).unref()
  socket.once('close', () => clearTimeout(timer))
}

/** A connection and the bytes that arrived after the headers. */
type Rest = Pick<HeldConnection, 'socket' | 'head'>

/** Hands the connection to Node again, with the same request without its header `Upgrade`. */
function serveAsHttp(server: Server, req: IncomingMessage, { socket, head }: Rest): void {
  const lines = [`${req.method} ${req.url} HTTP/${req.httpVersion}`]
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const [name, value] = req.rawHeaders.slice(index, index + 2) as [string, string]
    if (!/^(?:upgrade|connection)$/i.test(name)) lines.push(`${name}: ${value}`)
  }
  const connection = req.headers.connection?.split(',').filter((each) => !/^\s*upgrade\s*$/i.test(each))
  if (connection?.length) lines.push(`Connection: ${connection.join(',')}`)
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  // Node adds its listener of idle connections again.
  socket.removeAllListeners('timeout')
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket)
}
