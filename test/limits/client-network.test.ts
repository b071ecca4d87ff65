import { expect } from 'chai'
import { clientNetwork, clientSite } from '../../src/limits/client-network.ts'

const NETWORKS: Record<string, readonly [string, string]> = {
  'an IPv4 address': ['192.0.2.7', '192.0.2.7'],
  'the lowest IPv4 address': ['0.0.0.0', '0.0.0.0'],
  'an IPv4 address with octal parts': ['192.0.2.010', '192.0.2.8'],
  'the same with another octal part': ['0300.0.2.8', '192.0.2.8'],
  'an IPv4 address in hex': ['0xc0.0.2.8', '192.0.2.8'],
  'an IPv4 address mapped into IPv6': ['::ffff:192.0.2.7', '192.0.2.7'],
  'the same written in hex': ['::ffff:c000:207', '192.0.2.7'],
  'the same in capitals': ['::FFFF:192.0.2.7', '192.0.2.7'],
  'an IPv6 address': ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  'its neighbour in the /64': ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  'the same written in full': ['2001:0DB8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2::/64'],
  'an address in the next /64': ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  'the loopback address': ['::1', '::/64'],
  'a link-local address with its zone': ['fe80::1%eth0', 'fe80::/64'],
  'the same with another zone': ['fe80::2%en0', 'fe80::/64'],
  nothing: ['', ''],
  'a string that is not an address': ['unix:/run/app.sock', 'unix:/run/app.sock'],
}

describe('clientNetwork', () => {
  for (const [name, [ip, network]] of Object.entries(NETWORKS))
    it(`counts ${name} as ${network || 'itself'}`, () => {
      expect(clientNetwork(ip)).to.equal(network)
    })
})

describe('clientSite', () => {
  for (const [ip, site] of [
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:db8:1:ffff::1', '2001:db8:1::/48'],
    ['2001:db8:2::1', '2001:db8:2::/48'],
    ['192.0.2.7', undefined],
    ['::ffff:192.0.2.7', undefined],
    ['unix:/run/app.sock', undefined],
  ] as const)
    it(`puts ${ip} into ${site ?? 'no site'}`, () => {
      expect(clientSite(ip)).to.equal(site)
    })
})
