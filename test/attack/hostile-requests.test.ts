import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { hostileApp } from './hostile-app.ts'
import { hostileRequest, type HostileRequest } from './hostile-request.ts'
import { Random } from '../schema/support/random.ts'
import { collectGarbage } from '../support/collect-garbage.ts'
import { casesOf, seedFor } from '../support/seed.ts'

/** Requests through each adapter; `TEST_SEED` repeats a finding. */
const COUNT = casesOf(1200)
const SEED = seedFor('hostile requests')
const WARM_UP = 300
const AT_ONCE = 24
const MEBIBYTE = 1024 * 1024

/** Milliseconds after which a client half-closes. A complete request without a response by then is sent again. */
const PATIENCE = 400
const MORE_PATIENCE = 5000

interface Outcome {
  readonly status: number
  readonly ending: 'closed' | 'hung'
}

describe('Hostile requests', () => {
  const adapters = [
    { name: 'the direct adapter', open: openDirect },
    { name: 'the Koa adapter', open: openKoa },
  ]
  for (const adapter of adapters)
    it(`through ${adapter.name} get a response below 500 or are cut, and leave no open handle`, async function () {
      this.timeout(180_000 + COUNT * 20)
      const { port, close } = await adapter.open()
      try {
        // The first requests load code, which is not a leak.
        await attack(port, WARM_UP)
        const memory = heldMemory()
        const findings = await attack(port, COUNT)
        expect(findings.slice(0, 5)).to.deep.equal([])
        expect(heldMemory() - memory).to.be.lessThan(30 * MEBIBYTE)
        expect(await (await fetch(`http://127.0.0.1:${port}/json`)).json()).to.deep.equal({ a: 1 })
      } finally {
        await close()
      }
    })
})

/** Sends a series of requests, and reports each request with a wrong response. */
async function attack(port: number, count: number): Promise<string[]> {
  const findings: string[] = []
  let sent = 0
  const sendMany = async (): Promise<void> => {
    for (let index = sent++; index < count; index = sent++) {
      const request = hostileRequest(new Random(SEED + index))
      const { status, ending } = await sendPatiently(port, request)
      if (ending === 'hung' || status >= 500 || (status === 0 && !request.mayBeCut))
        findings.push(`${SEED + index}: ${status} ${ending} ${shown(request)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sendMany))
  return findings
}

/** A busy machine may respond late: only a request that gets no response at its second, longer try is a finding. */
async function sendPatiently(port: number, request: HostileRequest): Promise<Outcome> {
  const outcome = await send(port, request, PATIENCE)
  return outcome.status === 0 && !request.mayBeCut ? send(port, request, MORE_PATIENCE) : outcome
}

/** Sends one request. A client that waits in vain closes its side, and then the server has to end it. */
function send(port: number, { pieces }: HostileRequest, patience: number): Promise<Outcome> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const giveUp = setTimeout(() => socket.end(), patience)
    const hang = setTimeout(() => finish('hung'), patience + 6000)
    const finish = (ending: Outcome['ending']): void => {
      clearTimeout(giveUp)
      clearTimeout(hang)
      socket.destroy()
      resolve({ status: highestStatus(text), ending })
    }
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.on('end', () => finish('closed')).on('error', () => finish('closed'))
    socket.on('connect', () => void write())
    const write = async (): Promise<void> => {
      for (const piece of pieces) {
        if (socket.writable) socket.write(piece)
        if (pieces.length > 1) await wait(1)
      }
      if (pieces.at(-1)!.length === 0) socket.end()
    }
  })
}

/** Of all responses on the connection the worst. */
function highestStatus(text: string): number {
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
  return Math.max(0, ...statuses)
}

function shown({ pieces }: HostileRequest): string {
  return JSON.stringify(
    Buffer.concat([...pieces])
      .subarray(0, 700)
      .toString('latin1'),
  )
}

/** Bytes that are still referenced. */
function heldMemory(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function openDirect() {
  const app = hostileApp()
  const { port } = await app.listen(0, '127.0.0.1')
  return { port, close: () => app.close() }
}

async function openKoa() {
  const app = hostileApp()
  const server = createServer(app.koa.callback())
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
    await app.close()
  }
  return { port: (server.address() as AddressInfo).port, close }
}
