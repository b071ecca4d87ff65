import ipaddr from 'ipaddr.js'

const CUSTOMER_PREFIX = 64

/**
 * The network that counts as one client: an IPv4 address, an IPv4 address mapped into IPv6 likewise, and the /64 of an
 * IPv6 address, because one customer owns all of it. Anything else counts as it is.
 */
export function clientNetwork(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${CUSTOMER_PREFIX}`)
  return `${network.toString()}/${CUSTOMER_PREFIX}`
}
