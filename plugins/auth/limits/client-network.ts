import ipaddr from 'ipaddr.js'

const CUSTOMER_PREFIX = 64
const SITE_PREFIX = 48

/**
 * Returns the network that counts as one client: an IPv4 address (also mapped into IPv6), or the /64 of an IPv6
 * address, because one customer owns all of it. Other strings are returned unchanged.
 */
export function clientNetwork(ip: string): string {
  const address = parse(ip)
  if (address === null) return ip
  return address.kind() === 'ipv4' ? address.toString() : networkOf(address, CUSTOMER_PREFIX)
}

/**
 * Returns the /48 of an IPv6 address: the network of one site, with 65,536 networks of /64 (RFC 6177). Undefined for
 * other strings.
 */
export function clientSite(ip: string): string | undefined {
  const address = parse(ip)
  return address?.kind() === 'ipv6' ? networkOf(address, SITE_PREFIX) : undefined
}

type Address = ReturnType<typeof ipaddr.process>

function parse(ip: string): Address | null {
  return ipaddr.isValid(ip) ? ipaddr.process(ip) : null
}

function networkOf(address: Address, prefix: number): string {
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${prefix}`).toString()}/${prefix}`
}
