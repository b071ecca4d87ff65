import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer, IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { createApp, type Logger } from 'mortar'
import { currentResponse, keepUnblocked, prepareMarkAsRead } from '../../src/compat/node.ts'
import { countKept } from '../support/collect-garbage.ts'

function recorder() {
  const lines: unknown[] = []
  const logger = { info: (line: unknown) => void lines.push(line) } as unknown as Logger
  return { logger, lines }
}

const request = (own: object) => () => Object.assign(new IncomingMessage(undefined as unknown as Socket), own)

describe("Node's private flag of a request that was read", () => {
  it('is respected by this Node version', () => {
    const { logger, lines } = recorder()
    const req = request({})()
    prepareMarkAsRead(logger)(req)
    expect(req).to.have.property('_dumped', true)
    expect(lines).to.deep.equal([])
  })

  const others: readonly (readonly [string, object])[] = [
    ['has no such mark', { _dumped: undefined }],
    ['has no function that reads on', { _dump: undefined }],
    ['reads on although the mark is set', { _dump: IncomingMessage.prototype.resume }],
    ['never reads on', { _dump: () => undefined }],
  ]
  for (const [name, own] of others)
    it(`is not used, and one warning is logged, on a Node that ${name}`, () => {
      const { logger, lines } = recorder()
      const req = request({})()
      prepareMarkAsRead(logger, request(own))(req)
      expect(req).to.have.property('_dumped', false)
      expect(lines).to.have.lengthOf(1)
      expect(lines[0]).to.match(/_dumped/)
    })
})

describe("Node's private handle of a pipe", () => {
  it('is made not to block, and one warning is given on a Node that keeps it elsewhere', async () => {
    const set: boolean[] = []
    const _handle = { setBlocking: (isBlocking: boolean) => void set.push(isBlocking) }
    keepUnblocked({ setNoDelay: () => undefined, _handle } as unknown as NodeJS.WriteStream)
    expect(set).to.deep.equal([false])
    // A file has no handle, and needs none.
    keepUnblocked({} as NodeJS.WriteStream)
    const warning = once(process, 'warning')
    keepUnblocked({ setNoDelay: () => undefined } as unknown as NodeJS.WriteStream)
    expect(String((await warning)[0])).to.include('keeps the handle of a pipe elsewhere')
  })
})

describe('The current response of a connection', () => {
  it('is absent on a Node that has no `_httpMessage`', () => {
    expect(currentResponse({} as Socket)).to.equal(undefined)
  })

  let server: Server | undefined
  afterEach(() => void server?.close())

  it('is the response of the current request, and is absent before and after it', async () => {
    const seen: unknown[] = []
    server = createServer((req, res) => {
      seen.push(currentResponse(req.socket) === res)
      res.on('close', () => seen.push(currentResponse(req.socket)))
      res.end('x')
    }).listen(0, '127.0.0.1')
    server.on('connection', (socket: Socket) => seen.push(currentResponse(socket)))
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    await once(socket.resume(), 'close')
    expect(seen).to.deep.equal([undefined, true, undefined])
  })
})

describe('An object of process.nextTick', () => {
  it('stays alive from the creation of an application', async () => {
    const ticks: WeakRef<object>[] = []
    const init = (_id: number, type: string, _trigger: number, tick: object): void => {
      if (type === 'TickObject') ticks.push(new WeakRef(tick))
    }
    const hook = createHook({ init }).enable()
    createApp({ logger: false })
    hook.disable()
    expect(await countKept(ticks, 1)).to.equal(1)
  })
})
