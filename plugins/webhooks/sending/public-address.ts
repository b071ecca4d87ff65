import ipaddr from 'ipaddr.js'

/** A range of addresses: `ipaddr.parseCIDR('10.0.0.0/8')`. */
export type Network = ReturnType<typeof ipaddr.parseCIDR>

/** The public part of IPv6 (RFC 4291 §2.4). What is outside may embed a private IPv4 address, such as `::127.0.0.1`. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * True for an address of the public internet, or of one of the allowed networks. Addresses of this machine, of private
 * networks, of links (with the metadata services of clouds) and of translation to IPv4 are not public.
 */
export function isReachable(address: string, allowed: readonly Network[] = []): boolean {
  if (!ipaddr.isValid(address)) return false
  // Turns `::ffff:10.0.0.1` into `10.0.0.1`.
  const parsed = ipaddr.process(address)
  const isAllowed = allowed.some(
    ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
  )
  if (isAllowed) return true
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(GLOBAL_UNICAST)
}
