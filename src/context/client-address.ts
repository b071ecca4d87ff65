import type { IncomingMessage } from 'node:http'
import { StartupError } from '../errors/startup-error.ts'
import { parseAddressRange, rangeMatcher } from '../support/address-range.ts'
import { loadAddresses } from '../support/lazy-packages.ts'

/** Prefix of a mapped IPv4 address, in every notation. */
const MAPPED = /^[0:]*:ffff:/i
/** Notation of mapped addresses on Node's sockets. */
const DOTTED = /^::ffff:\d+\.\d+\.\d+\.\d+$/

/** Trusted proxies: addresses and CIDRs, or the number of the application's own proxies in front of it. */
export type TrustProxy = readonly string[] | number | false

/** Reads what the trusted proxies of an application report about a request. */
export interface Forwarding {
  /** Returns the client's address: the socket's, or the first from the right that is not a trusted proxy. */
  clientAddress(req: IncomingMessage): string
  /** Returns the trusted part of the forwarded addresses, the client's first; empty if the peer is not trusted. */
  addresses(req: IncomingMessage): string[]
  /** True if the peer is trusted, so that its other forwarding headers are used too. */
  trustsPeer(req: IncomingMessage): boolean
}

/**
 * Compiles the rule for `ctx.ip`. Without trusted proxies it is the socket's address. With them, the chain
 * `X-Forwarded-For` + socket is read from the right, and the first address that is not trusted is the client. Any
 * client can forge the entries further left.
 * @throws StartupError for a value that is not an address, a CIDR or a number of hops.
 */
export function compileForwarding(trust: TrustProxy): Forwarding {
  if (trust === false || trust === 0 || (typeof trust === 'object' && trust.length === 0))
    return { clientAddress: peerOf, addresses: () => [], trustsPeer: () => false }
  const trusts = typeof trust === 'number' ? byHops(trust) : byAddress(trust)
  const addresses = (req: IncomingMessage): string[] => readChain(req, trusts)
  return {
    addresses,
    clientAddress: (req) => (req.headers['x-forwarded-for'] && addresses(req)[0]) || peerOf(req),
    trustsPeer: (req) => trusts(peerOf(req), 0),
  }
}

type Trusts = (address: string, distance: number) => boolean

function readChain(req: IncomingMessage, trusts: Trusts): string[] {
  const forwarded = req.headers['x-forwarded-for']
  const addresses: string[] = []
  if (forwarded === undefined || !trusts(peerOf(req), 0)) return addresses
  for (const [index, entry] of String(forwarded).split(',').toReversed().entries()) {
    const address = parseAddress(entry)
    if (address === undefined) break
    addresses.unshift(address)
    if (!trusts(address, index + 1)) break
  }
  return addresses
}

function peerOf(req: IncomingMessage): string {
  const address = req.socket.remoteAddress
  return address === undefined ? '' : withoutMapping(address)
}

/** Trusts the peer and the next `hops - 1` addresses, without comparing them. */
function byHops(hops: number): Trusts {
  if (!Number.isInteger(hops) || hops < 0)
    throw new StartupError(`trustProxy is ${hops}, which is not a number of hops.`, {
      code: 'MORTAR_TRUST_PROXY',
      remedy: 'Write the number of proxies in front of the application, or their addresses.',
    })
  return (_address, distance) => distance < hops
}

function byAddress(list: readonly string[]): (address: string) => boolean {
  for (const text of list) refuseNoRange(text)
  return rangeMatcher(list)
}

function refuseNoRange(text: string): void {
  if (parseAddressRange(text) !== undefined) return
  throw new StartupError(`trustProxy contains '${text}', which is neither an address nor a CIDR.`, {
    code: 'MORTAR_TRUST_PROXY',
    remedy: "Write addresses such as '10.0.0.1' or ranges such as '10.0.0.0/8'.",
  })
}

/** Reads an entry of a forwarded chain, without surrounding spaces, brackets and port. */
function parseAddress(entry: string): string | undefined {
  const text = entry
    .trim()
    .replace(/^\[([^\]]+)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  const { IPv4, IPv6 } = loadAddresses()
  return IPv4.isValidFourPartDecimal(text) || IPv6.isValid(text) ? withoutMapping(text) : undefined
}

/** Converts a mapped address: `::ffff:1.2.3.4` and `::ffff:102:304` become `1.2.3.4` (RFC 4291 §2.5.5.2). */
function withoutMapping(address: string): string {
  if (!MAPPED.test(address)) return address
  if (DOTTED.test(address)) return address.slice(7)
  const { IPv6 } = loadAddresses()
  if (!IPv6.isValid(address)) return address
  const parsed = IPv6.parse(address)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : address
}
