import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { refuseConnection } from '../../src/cli/dev/refuse-connection.ts'
import { rawRequest } from '../support/raw-request.ts'
import { startDev, type DevServer } from './dev-server.ts'

const APP = `import { createApp } from 'mortar'
import { realtime } from '@mortar/realtime'
export const app = createApp().use(realtime())
`

const route = (greeting: string): string => `import { defineSocket } from '@mortar/realtime'
import { object, string } from 'yup'
const message = object({ text: string().required() })
export default defineSocket({ receive: message, send: message }, async (_ctx, socket) => {
  for await (const { text } of socket) socket.send({ text: '${greeting} ' + text })
})
`

describe('A socket of mortar dev', () => {
  let dev: DevServer
  before(async () => {
    dev = await startDev({ 'app.ts': APP, 'routes/greet.ws.ts': route('Hello') })
  })
  after(async () => {
    expect(await dev.serving.stop(), dev.serving.output.text()).to.equal(0)
    dev.project.remove()
  })

  async function open(): Promise<WebSocket> {
    const socket = new WebSocket(`ws://127.0.0.1:${dev.port}/greet`)
    await once(socket, 'open')
    return socket
  }

  async function greeting(socket: WebSocket): Promise<string> {
    socket.send('{"text":"Ada"}')
    const [data] = await once(socket, 'message')
    return (JSON.parse(String(data)) as { text: string }).text
  }

  it('ends with 1012 after a change, and the next one waits for the new code', async () => {
    for (const [path, text, next] of [
      ['routes/greet.ws.ts', route('Hi'), 'Hi Ada'],
      ['app.ts', `${APP}// changed\n`, 'Hi Ada'],
    ] as const) {
      const socket = await open()
      expect(await greeting(socket)).to.be.oneOf(['Hello Ada', 'Hi Ada'])
      const closed = once(socket, 'close')
      dev.project.write({ [path]: text })
      const [code, reason] = await closed
      expect([code, String(reason)], path).to.deep.equal([1012, 'restart'])
      expect(await greeting(await open()), path).to.equal(next)
    }
    expect(dev.serving.output.text()).not.to.include('was killed')
  })
})

describe('A connection to an application that mortar dev could not start', () => {
  for (const isTls of [false, true])
    it(isTls ? 'is closed where TLS is expected' : 'has a problem document', async () => {
      const server = createServer((socket) => refuseConnection(socket, { text: 'It is away.', isTls }))
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const { port } = server.address() as AddressInfo
      const { text, status } = await rawRequest(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      server.close()
      expect(status).to.equal(isTls ? 0 : 503)
      if (isTls) expect(text).to.equal('')
      else expect(text).to.include('"detail":"It is away."')
    })
})
