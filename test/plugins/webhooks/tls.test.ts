import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { Delivery } from '@mortar/webhooks'
import { bundleScript } from '../../support/bundle-script.ts'

const PROCESS = new URL('./tls-process.ts', import.meta.url).pathname
/** A certificate for localhost that has signed itself. */
const CERTIFICATE = new URL('../../fixtures/tls/cert.pem', import.meta.url).pathname
const KEY = new URL('../../fixtures/tls/key.pem', import.meta.url).pathname

describe('webhooks over TLS', () => {
  const received: string[] = []
  const server = createServer(
    { cert: readFileSync(CERTIFICATE), key: readFileSync(KEY) },
    async (request, response) => {
      for await (const chunk of request) received.push(String(chunk))
      response.writeHead(204).end()
    },
  )
  before(async () => {
    // Also at 127.0.0.2, which the sender does not allow.
    server.listen(0, '0.0.0.0')
    await once(server, 'listening')
  })
  beforeEach(() => void (received.length = 0))
  after(() => server.close())

  /** Node reads the authorities that it trusts when a process starts. */
  async function send(env: Readonly<Record<string, string>>): Promise<readonly (readonly Delivery[])[]> {
    const { port } = server.address() as AddressInfo
    const program = [await bundleScript(PROCESS), String(port), dirname(KEY)]
    const run = promisify(execFile)(process.execPath, program, { env: { PATH: process.env['PATH'], ...env } })
    return JSON.parse((await run).stdout) as readonly (readonly Delivery[])[]
  }

  it('arrive at a trusted server of this name, and at no other name or address', async () => {
    const [localhost, other] = await send({ NODE_EXTRA_CA_CERTS: CERTIFICATE })
    expect(received).to.have.lengthOf(1)
    expect(JSON.parse(received[0]!)).to.deep.include({ type: 'invoice.paid', data: { invoice: '1001' } })
    expect(localhost![0]).to.include({ state: 'delivered', attempts: 1, status: 204 })
    expect(localhost![1]).to.include({ state: 'waiting', attempts: 1, error: 'The address is not public.' })
    expect(other![0]).to.include({
      state: 'waiting',
      attempts: 1,
      error: 'The connection failed (ERR_TLS_CERT_ALTNAME_INVALID).',
    })
  })

  it('do not arrive at a server whose authority is unknown', async () => {
    const [localhost] = await send({})
    expect(received).to.deep.equal([])
    expect(localhost![0]).to.include({
      state: 'waiting',
      attempts: 1,
      error: 'The connection failed (DEPTH_ZERO_SELF_SIGNED_CERT).',
    })
  })
})
