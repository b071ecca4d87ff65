import type ipaddr from 'ipaddr.js'
import { loadAddresses } from '../support/lazy-packages.ts'

/** An IPv4 address as Node writes it, which needs no parser. */
const PLAIN_IPV4 = /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/
const CUSTOMER_PREFIX = 64
const SITE_PREFIX = 48

/**
 * Returns the network that counts as one client: an IPv4 address (also mapped into IPv6), or the /64 of an IPv6
 * address, because one customer owns all of it. Other strings are returned unchanged.
 */
export function clientNetwork(ip: string): string {
  if (PLAIN_IPV4.test(ip)) return ip
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
  const addresses = loadAddresses()
  return addresses.isValid(ip) ? addresses.process(ip) : null
}

function networkOf(address: Address, prefix: number): string {
  return `${loadAddresses().IPv6.networkAddressFromCIDR(`${address.toString()}/${prefix}`).toString()}/${prefix}`
}
