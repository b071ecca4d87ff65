import type { IPv4, IPv6 } from 'ipaddr.js'
import { loadAddresses } from './lazy-packages.ts'

/** Reads an IP address or a CIDR: the address and the number of its leading bits. Undefined for anything else. */
export function parseAddressRange(text: string): [IPv4 | IPv6, number] | undefined {
  const ipaddr = loadAddresses()
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text)
    const address = ipaddr.process(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  } catch {
    return undefined
  }
}

/** Returns a function that tells if an address is in one of the ranges. Ranges that cannot be read are left out. */
export function rangeMatcher(ranges: readonly string[]): (address: string) => boolean {
  const ipaddr = loadAddresses()
  const parsed = ranges.flatMap((text) => {
    const range = parseAddressRange(text)
    return range === undefined ? [] : [range]
  })
  return (text) => {
    if (!ipaddr.isValid(text)) return false
    const address = ipaddr.process(text)
    return parsed.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits))
  }
}
