import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import type { App } from 'mortar'
import { Random } from '../schema/support/random.ts'
import { seedFor } from '../support/seed.ts'
import { rawRequest, type RawAnswer } from '../support/raw-request.ts'
import { hostileApp } from './hostile-app.ts'
import { hostileRequest, type HostileRequest } from './hostile-request.ts'

const COUNT = Number(process.env.TEST_TWO_ADAPTERS_REQUESTS ?? 400)

/** Headers that differ by time, connection and request. */
const VOLATILE = /^(date|connection|keep-alive|x-request-id|transfer-encoding|content-length):/

describe('The two adapters', () => {
  const direct = hostileApp()
  const other = hostileApp()
  let ports: readonly [number, number]
  let server: Server

  before(async () => {
    server = await serve(other)
    ports = [(await direct.listen(0, '127.0.0.1')).port, (server.address() as AddressInfo).port]
  })
  after(async () => {
    server.closeAllConnections()
    server.close()
    await Promise.all([direct.close(), other.close()])
  })

  it(`respond the same to ${COUNT} requests`, async () => {
    let compared = 0
    for (let seed = seedFor('two adapters'); compared < COUNT; seed++) {
      const request = hostileRequest(new Random(seed))
      if (request.mayBeCut || !hasOneHost(request)) continue
      const [one, two] = await askBoth(ports, request)
      // Node rejects some input before there is a request. The server does that, which the Koa adapter does not own.
      if (one.ending === 'timeout' || isRefusedByServer(one)) continue
      compared += 1
      expect(comparable(two.text), shown(seed, request)).to.deep.equal(comparable(one.text))
    }
  })
})

/**
 * Asks both. One that is silent while the other ends may be late on a busy machine, so both get more time. Bytes that arrive
 * after a server has closed the connection reset it, and the response may be lost on the way: such a request is sent again
 * in one piece.
 */
async function askBoth(
  ports: readonly [number, number],
  { pieces }: HostileRequest,
): Promise<readonly [RawAnswer, RawAnswer]> {
  const ask = (sent: HostileRequest['pieces'], patience: number) =>
    Promise.all([rawRequest(ports[0], sent, patience), rawRequest(ports[1], sent, patience)])
  const answers = await ask(pieces, 400)
  const late = answers.filter(({ ending }) => ending === 'timeout')
  const lost = answers.filter(({ ending, text }) => ending === 'reset' && text === '')
  if (late.length !== 1 && lost.length !== 1) return answers
  return ask(lost.length === 1 ? [Buffer.concat([...pieces])] : pieces, 10_000)
}

function isRefusedByServer({ text, status }: RawAnswer): boolean {
  return status === 417 || text.includes('"detail":"The request cannot be read as HTTP."')
}

/** listen() rejects a request without Host or with two; an application's own server may accept it. */
function hasOneHost({ pieces }: HostileRequest): boolean {
  const [head = ''] = Buffer.concat(pieces).toString('latin1').split('\r\n\r\n')
  return head.match(/^host:/gim)?.length === 1
}

async function serve(app: App): Promise<Server> {
  const server = createServer(app.koa.callback())
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return server
}

/**
 * The comparable parts of a response: status line, sorted headers, body without request id and upload's name. The nonces
 * of a page are removed.
 */
function comparable(text: string): { status: string; headers: string[]; body: string } {
  const [head = '', ...rest] = text
    .replace(/^(HTTP\/1.1 100 Continue\r\n\r\n)+/, '')
    .replace(/(?<=\bnonce(-|="))[\w+/=-]+/g, '')
    .split('\r\n\r\n')
  const [status = '', ...lines] = head.split('\r\n')
  const headers = lines
    .map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()))
    .filter((line) => !VOLATILE.test(line))
    .toSorted()
  const body = withoutChunks(rest.join('\r\n\r\n'), /transfer-encoding: chunked/i.test(head))
  return { status, headers, body: body.replace(/"(instance|filepath)":"[^"]*"/g, '"$1":""') }
}

function withoutChunks(body: string, isChunked: boolean): string {
  if (!isChunked) return body
  let text = ''
  let rest = body
  for (let size = Number.parseInt(rest, 16); size > 0; size = Number.parseInt(rest, 16)) {
    const start = rest.indexOf('\r\n') + 2
    text += rest.slice(start, start + size)
    rest = rest.slice(start + size + 2)
  }
  return text
}

function shown(seed: number, { pieces }: HostileRequest): string {
  return `${seed}: ${Buffer.concat([...pieces])
    .subarray(0, 400)
    .toString('latin1')}`
}
