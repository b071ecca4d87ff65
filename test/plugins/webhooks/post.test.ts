import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import ipaddr from 'ipaddr.js'
import { expect } from 'chai'
import { createLookUp, type LookUp } from '../../../plugins/webhooks/sending/look-up.ts'
import { isReachable } from '../../../plugins/webhooks/sending/public-address.ts'
import { post, type Post } from '../../../plugins/webhooks/sending/post.ts'
import { collectGarbage } from '../../support/collect-garbage.ts'
import { startReceiver } from './receiver.ts'

const LOCAL = [ipaddr.parseCIDR('127.0.0.0/8')]

/** Addresses that an attacker would like to reach. */
const PRIVATE = [
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:169.254.169.254',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::7f00:1',
  '2002:7f00:1::',
  '2001::1',
  '2001:db8::1',
  'fe80::1',
  'fe80::1%lo',
  'fec0::1',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  '100::1',
  '1::1',
  '4000::1',
  '',
  'localhost',
  '127.1',
]
const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '172.15.0.1',
  '172.32.0.1',
  '2606:4700:4700::1111',
  '::ffff:8.8.8.8',
]

describe('isReachable', () => {
  for (const address of PRIVATE)
    it(`refuses '${address}'`, () => expect(isReachable(address)).to.equal(false))
  for (const address of PUBLIC) it(`accepts ${address}`, () => expect(isReachable(address)).to.equal(true))
  it('accepts an allowed network, also mapped into IPv6, and no other', () => {
    expect(isReachable('127.0.0.1', LOCAL)).to.equal(true)
    expect(isReachable('::ffff:127.0.0.1', LOCAL)).to.equal(true)
    expect(isReachable('10.0.0.1', LOCAL)).to.equal(false)
    expect(isReachable('::1', LOCAL)).to.equal(false)
  })
})

/** A look-up with these answers, one for each question. */
function resolver(...answers: readonly (readonly string[])[]): { lookup: LookUp; asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async lookup(name) {
      const answer = answers[Math.min(asked.length, answers.length - 1)]!
      asked.push(name)
      return answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
  }
}

describe('post', () => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  beforeEach(async () => {
    receiver = await startReceiver()
  })
  afterEach(() => receiver.close())

  const send = (given: Partial<Post> = {}): Promise<number> =>
    post({
      url: receiver.url,
      body: '{"a":"é"}',
      headers: { 'webhook-id': 'm' },
      timeout: 2000,
      signal: new AbortController().signal,
      allowed: LOCAL,
      lookup: resolver(['127.0.0.1']).lookup,
      ...given,
    })
  const failure = async (given: Partial<Post>): Promise<Error> => {
    const result = await send(given).catch((error: Error) => error)
    return result as Error
  }

  it('sends the body and resolves with the status', async () => {
    expect(await send()).to.equal(204)
    expect(receiver.received[0]).to.deep.include({ body: '{"a":"é"}' })
    expect(receiver.received[0]!.headers).to.include({ 'webhook-id': 'm', 'content-length': '10' })
  })

  const SPELLINGS = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '127.0.0.1.',
  ]
  for (const host of SPELLINGS)
    it(`refuses ${host} without a connection`, async () => {
      // A name with a point at its end is looked up.
      const { lookup } = resolver(['127.0.0.1'])
      const url = `http://${host}:${receiver.port}/`
      expect(await failure({ url, allowed: [], lookup })).to.include({ name: 'RefusedAddress' })
      expect(receiver.received).to.deep.equal([])
    })

  it('refuses a name with a private address among public ones', async () => {
    for (const answer of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::ffff:127.0.0.1'], []]) {
      const { lookup } = resolver(answer)
      const url = `http://rebind.example.com:${receiver.port}/`
      expect(await failure({ url, allowed: [], lookup })).to.include({ name: 'RefusedAddress' })
    }
    // The allowed one is not reached either.
    const { lookup } = resolver(['127.0.0.1', '10.0.0.1'])
    const url = `http://rebind.example.com:${receiver.port}/`
    expect(await failure({ url, lookup })).to.include({ name: 'RefusedAddress' })
    expect(receiver.received).to.deep.equal([])
  })

  it('refuses the address of an open connection, whatever the look-up has said', async () => {
    const addresses = ['8.8.8.8']
    const found = {
      family: 4,
      get address() {
        return addresses.shift() ?? '127.0.0.1'
      },
    }
    const url = `http://rebind.example.com:${receiver.port}/`
    expect(await failure({ url, allowed: [], lookup: async () => [found] })).to.include({
      name: 'RefusedAddress',
    })
    expect(receiver.received).to.deep.equal([])
  })

  it('asks once for a connection, and again for the next one', async () => {
    const { lookup, asked } = resolver(['127.0.0.1'], ['127.0.0.1'], ['10.0.0.1'])
    const url = `http://rebind.example.com:${receiver.port}/`
    expect(await send({ url, lookup })).to.equal(204)
    expect(await send({ url, lookup })).to.equal(204)
    expect(await failure({ url, lookup })).to.include({ name: 'RefusedAddress' })
    expect(asked).to.have.lengthOf(3)
    expect(receiver.received).to.have.lengthOf(2)
  })

  it('does not follow a redirect', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      receiver.behaviour.respond = (_request, response) =>
        void response.writeHead(status, { location: `http://127.0.0.1:${receiver.port}/inside` }).end()
      expect(await send()).to.equal(status)
    }
    expect(receiver.received).to.have.lengthOf(5)
  })

  it('ends after its time, whether no response comes or one without end', async () => {
    receiver.behaviour.respond = () => undefined
    expect(await failure({ timeout: 50 })).to.have.property('name', 'TimeoutError')
    receiver.behaviour.respond = (_request, response) => void response.writeHead(200).write('a')
    expect(await failure({ timeout: 50 })).to.have.property('name', 'TimeoutError')
    const never: LookUp = () => Promise.race([])
    const url = 'http://never.example.com/'
    expect(await failure({ timeout: 50, url, lookup: never })).to.have.property('name', 'TimeoutError')
  })

  it('ends after its time although memory was collected meanwhile', async () => {
    receiver.behaviour.respond = () => collectGarbage()
    expect(await failure({ timeout: 500 })).to.have.property('name', 'TimeoutError')
  })

  it('reads no more than 64 KiB of a response, and 16 KiB of headers', async () => {
    let written = 0
    receiver.behaviour.respond = (_request, response) => {
      response.writeHead(200)
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(16_384))) written += 16_384
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }
    expect(await send()).to.equal(200)
    receiver.behaviour.respond = (_request, response) =>
      void response.writeHead(200, { 'x-large': 'x'.repeat(20_000) }).end()
    expect(await failure({})).to.have.property('code', 'HPE_HEADER_OVERFLOW')
    expect(written).to.be.lessThan(20_000_000)
  })

  it('resolves with the status of a whole response, whatever bytes follow in its packet', async () => {
    for (const [status, headers] of [
      [204, ''],
      [200, 'Content-Length: 2\r\n'],
      [410, 'Content-Length: 0\r\nConnection: close\r\n'],
    ] as const) {
      receiver.behaviour.respond = ({ socket }) =>
        void socket.end(`HTTP/1.1 ${status} Status\r\n${headers}\r\n{"ok":true}`)
      expect(await send()).to.equal(status)
    }
    receiver.behaviour.respond = ({ socket }) =>
      void socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nbroken')
    expect(await failure({})).to.have.property('code', 'HPE_INVALID_CHUNK_SIZE')
  })

  it('rejects for a response that changes the protocol', async () => {
    receiver.behaviour.respond = ({ socket }) =>
      void socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n')
    expect(await failure({})).to.have.property('message', 'The connection has ended without a response.')
  })

  it('aborts with its signal', async () => {
    receiver.behaviour.respond = () => stopping.abort()
    const stopping = new AbortController()
    const { name, cause } = await failure({ signal: stopping.signal })
    // The end of its time is an AbortError too.
    expect([name, cause]).to.deep.equal(['AbortError', stopping.signal.reason])
  })
})

/** A name server that knows the addresses of one name, for IPv4 only (RFC 1035 §4), and loses its first packets. */
async function startNameServer(addresses: readonly string[], lost = 0) {
  const socket = createSocket('udp4')
  let packets = 0
  socket.on('message', (query, { port, address }) => {
    if (packets++ < lost) return
    const end = query.indexOf(0, 12) + 5
    const found = query.readUInt16BE(end - 4) === 1 ? addresses : []
    const header = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, found.length, 0, 0, 0, 0])
    const records = found.map((each) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...each.split('.').map(Number)]),
    )
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { server: `127.0.0.1:${socket.address().port}`, close: () => socket.close() }
}

describe('createLookUp', () => {
  it('finds all addresses of a name, and rejects without any', async () => {
    for (const addresses of [['192.0.2.1', '127.0.0.1'], []]) {
      const { server, close } = await startNameServer(addresses)
      const found = await createLookUp([server])('rebind.example.com').catch((error: Error) => error)
      if (addresses.length === 0) expect(found).to.have.property('code', 'ENODATA')
      else expect(found).to.deep.equal(addresses.map((address) => ({ address, family: 4 })))
      close()
    }
  })

  it('asks again when a packet is lost', async () => {
    // Both families of addresses are asked for.
    const { server, close } = await startNameServer(['192.0.2.1'], 2)
    const found = await createLookUp([server])('once.example.com').catch((error: Error) => error)
    expect(found).to.deep.equal([{ address: '192.0.2.1', family: 4 }])
    close()
  })
})
