/** Sockets that send each message back. */
import { createApp, createRouter } from 'mortar'
import { defineSocket, realtime } from '@mortar/realtime'
import { object, string } from 'mortar/yup'
import { WebSocketServer } from 'ws'
import { listen } from './listen.js'

const message = object({ text: string().required() })

export const servers = {
  async mortar() {
    const route = defineSocket({ receive: message, send: message }, async (_ctx, socket) => {
      for await (const each of socket) socket.send(each)
    })
    const app = createApp({ logger: false, openapi: false })
      .use(realtime({ messageRate: 1e9, socketsPerClient: 1e6, sockets: 1e6 }))
      .use(createRouter().get('/', route))
    return app.listen(0, '127.0.0.1')
  },
  async ws() {
    const { server, port } = await listen()
    const sockets = new WebSocketServer({ server, maxPayload: 65_536 })
    sockets.on('connection', (socket) => {
      socket.on('message', (data) =>
        socket.send(JSON.stringify(JSON.parse(/** @type {Buffer} */ (data).toString()))),
      )
    })
    return { port }
  },
}
