import ipaddr from 'ipaddr.js'

const CUSTOMER_PREFIX = 64
const SITE_PREFIX = 48

/**
 * The network that counts as one client: an IPv4 address, an IPv4 address mapped into IPv6 likewise, and the /64 of an
 * IPv6 address, because one customer owns all of it. Anything else counts as it is.
 */
export function clientNetwork(ip: string): string {
  const address = parse(ip)
  if (address === null) return ip
  return address.kind() === 'ipv4' ? address.toString() : networkOf(address, CUSTOMER_PREFIX)
}

/**
 * The /48 of an IPv6 address: the network of one site, which holds 65,536 networks of /64 (RFC 6177). Undefined for
 * anything else.
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
