import type { IncomingMessage } from 'node:http'
import type { IPv4, IPv6 } from 'ipaddr.js'
import { StartupError } from '../errors/startup-error.ts'
import { loadAddresses } from '../support/lazy-packages.ts'

/** The beginning of a mapped IPv4 address, in every way to write it. */
const MAPPED = /^[0:]*:ffff:/i
/** As Node writes the addresses of its sockets. */
const DOTTED = /^::ffff:\d+\.\d+\.\d+\.\d+$/

/** Proxies to believe: addresses and CIDRs, or how many hops in front of the application are its own. */
export type TrustProxy = readonly string[] | number | false

/**
 * Compiles the rule for `ctx.ip`. Without trusted proxies it is the socket's address. With them, the chain
 * `X-Forwarded-For` + socket is read from the right and the first address that is not trusted is the client: what lies
 * further left could have been written by anybody.
 */
export function compileClientAddress(trust: TrustProxy): (req: IncomingMessage) => string {
  if (trust === false || trust === 0) return peerOf
  const trusts = typeof trust === 'number' ? byHops(trust) : byAddress(trust)
  return (req) => {
    const peer = peerOf(req)
    const forwarded = req.headers['x-forwarded-for']
    if (forwarded === undefined || !trusts(peer, 0)) return peer
    const chain = String(forwarded).split(',').toReversed()
    let client = peer
    for (const [index, entry] of chain.entries()) {
      const address = parseAddress(entry)
      if (address === undefined) return client
      client = address
      if (!trusts(client, index + 1)) return client
    }
    return client
  }
}

function peerOf(req: IncomingMessage): string {
  const address = req.socket.remoteAddress
  return address === undefined ? '' : withoutMapping(address)
}

/** Trusts the peer and the next `hops - 1` addresses, whatever they are. */
function byHops(hops: number): (address: string, distance: number) => boolean {
  if (!Number.isInteger(hops) || hops < 0)
    throw new StartupError(`trustProxy is ${hops}, which is not a number of hops.`, {
      code: 'MORTAR_TRUST_PROXY',
      remedy: 'Give a whole number of proxies in front of the application, or their addresses.',
    })
  return (_address, distance) => distance < hops
}

function byAddress(list: readonly string[]): (address: string) => boolean {
  const ipaddr = loadAddresses()
  const ranges = list.map(parseRange)
  return (address) => {
    if (!ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    return ranges.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits))
  }
}

function parseRange(text: string): [IPv4 | IPv6, number] {
  const ipaddr = loadAddresses()
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text)
    const address = ipaddr.process(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  } catch (cause) {
    throw new StartupError(`trustProxy holds '${text}', which is neither an address nor a CIDR.`, {
      code: 'MORTAR_TRUST_PROXY',
      remedy: "Write addresses such as '10.0.0.1' or ranges such as '10.0.0.0/8'.",
      cause,
    })
  }
}

/** An entry of a forwarded chain: surrounding spaces, brackets and a port are not part of the address. */
function parseAddress(entry: string): string | undefined {
  const text = entry
    .trim()
    .replace(/^\[([^\]]+)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  const { IPv4, IPv6 } = loadAddresses()
  return IPv4.isValidFourPartDecimal(text) || IPv6.isValid(text) ? withoutMapping(text) : undefined
}

/** `::ffff:1.2.3.4` and `::ffff:102:304` are `1.2.3.4`, in whatever form they were written (RFC 4291 §2.5.5.2). */
function withoutMapping(address: string): string {
  if (!MAPPED.test(address)) return address
  if (DOTTED.test(address)) return address.slice(7)
  const { IPv6 } = loadAddresses()
  if (!IPv6.isValid(address)) return address
  const parsed = IPv6.parse(address)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : address
}
