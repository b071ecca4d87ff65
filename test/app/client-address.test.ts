import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { expect } from 'chai'
import { createApp, createRouter, StartupError, type AppOptions } from 'mortar'
import { compileForwarding, type TrustProxy } from '../../src/context/client-address.ts'
import { deferred } from '../support/deferred.ts'

const address = (trust: TrustProxy, peer: string, forwarded?: string) =>
  compileForwarding(trust).clientAddress({
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  } as unknown as IncomingMessage)

describe('The client address', () => {
  const table: readonly (readonly [string, TrustProxy, string, string | undefined, string])[] = [
    ['is the socket’s when nobody is trusted', false, '9.9.9.9', '1.1.1.1', '9.9.9.9'],
    ['is the socket’s when the peer is not trusted', ['10.0.0.0/8'], '9.9.9.9', '1.1.1.1', '9.9.9.9'],
    [
      'is the last forwarded one behind a trusted peer',
      ['10.0.0.0/8'],
      '10.0.0.1',
      '6.6.6.6, 1.1.1.1',
      '1.1.1.1',
    ],
    [
      'skips trusted hops from the right',
      ['10.0.0.0/8'],
      '10.0.0.1',
      '6.6.6.6, 1.1.1.1, 10.0.0.2',
      '1.1.1.1',
    ],
    ['is the leftmost when all are trusted', ['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['stops at an entry that is not an address', ['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, unknown', '10.0.0.1'],
    ['counts hops', 1, '10.0.0.1', '6.6.6.6, 1.1.1.1', '1.1.1.1'],
    ['counts two hops', 2, '10.0.0.1', '6.6.6.6, 1.1.1.1, 10.0.0.2', '1.1.1.1'],
    ['is the peer without a forwarded chain', 2, '10.0.0.1', undefined, '10.0.0.1'],
    ['drops the port of an IPv4 address', 1, '10.0.0.1', '1.1.1.1:5000', '1.1.1.1'],
    ['reads IPv6 in brackets', 1, '::1', '[2001:db8::1]:443', '2001:db8::1'],
    ['unwraps IPv4 in IPv6', false, '::ffff:1.2.3.4', undefined, '1.2.3.4'],
    [
      'matches a mapped peer against an IPv4 range',
      ['127.0.0.0/8'],
      '::ffff:127.0.0.1',
      '1.1.1.1',
      '1.1.1.1',
    ],
    ['matches IPv6 ranges', ['2001:db8::/32'], '2001:db8::9', '1.1.1.1', '1.1.1.1'],
    ['does not read octal', 1, '10.0.0.1', '010.1.1.1', '10.0.0.1'],
    ['unwraps IPv4 in IPv6 in hexadecimal', false, '::ffff:606:606', undefined, '6.6.6.6'],
    ['unwraps IPv4 in IPv6 in capitals', 1, '10.0.0.1', '::FFFF:6.6.6.6', '6.6.6.6'],
    ['unwraps IPv4 in IPv6 written out', 1, '10.0.0.1', '0:0:0:0:0:ffff:0606:0606', '6.6.6.6'],
    ['unwraps IPv4 in IPv6 in brackets', 1, '10.0.0.1', '[::ffff:6.6.6.6]:80', '6.6.6.6'],
    ['keeps other IPv6 addresses', 1, '10.0.0.1', '2001:db8::ffff:6:6', '2001:db8::ffff:6:6'],
    ['trusts one address without its neighbours', ['10.0.0.1'], '10.0.0.2', '1.1.1.1', '10.0.0.2'],
    ['trusts one IPv6 address without its /64', ['2001:db8::1'], '2001:db8::2', '1.1.1.1', '2001:db8::2'],
    ['trusts a mapped hop in the chain', ['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, ::ffff:10.0.0.2', '1.1.1.1'],
    ['does not trust a peer without an address', ['10.0.0.0/8'], '', '1.1.1.1', ''],
    ['does not trust a peer on a Unix socket', ['127.0.0.1'], '/run/app.sock', '1.1.1.1', '/run/app.sock'],
    ['survives an empty chain', 1, '10.0.0.1', '', '10.0.0.1'],
  ]
  for (const [name, trust, peer, forwarded, expected] of table)
    it(name, () => expect(address(trust, peer, forwarded)).to.equal(expected))

  it('rejects a trustProxy list with an entry that is not an address', () => {
    for (const trustProxy of [['example.com'], ['10.0.0.0/99'], -1, 1.5] as AppOptions['trustProxy'][])
      expect(() => compileForwarding(trustProxy!), String(trustProxy)).to.throw(StartupError, 'trustProxy')
  })

  it('is ctx.ip', async () => {
    const app = createApp({ trustProxy: ['127.0.0.1'] }).use(createRouter().get('/', (ctx) => ctx.ip))
    const response = await app.inject({
      url: '/',
      headers: { 'x-forwarded-for': '1.2.3.4' },
      remoteAddress: '127.0.0.1',
    })
    expect(response.body).to.equal('1.2.3.4')
    await app.close()
  })

  it('is known if it is read first after the client has left', async () => {
    const entered = deferred()
    const read = deferred<string>()
    const app = createApp({ logger: false }).use(
      createRouter().get('/', async (ctx) => {
        const closed = once(ctx.koa.req.socket, 'close')
        entered.resolve()
        await closed
        read.resolve(ctx.ip)
        return 'late'
      }),
    )
    const { port } = await app.listen(0, '127.0.0.1')
    const client = connect(port, '127.0.0.1')
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await entered.promise
    client.destroy()
    expect(await read.promise).to.equal('127.0.0.1')
    await app.close()
  })
})
