/** One message to every socket. */
import { createApp } from 'mortar'
import { realtime } from '@mortar/realtime'
import { channels } from '@mortar/realtime/channels'
import { WebSocketServer } from 'ws'
import news from './channels/news.js'
import { listen } from './listen.js'

const data = { text: 'a message of a chat, as people write it' }

export const servers = {
  async mortar() {
    const app = createApp({ logger: false, openapi: false })
      .use(realtime({ socketsPerClient: 1e6, sockets: 1e6 }))
      .use(channels({ directory: `${import.meta.dirname}/channels` }))
    const { port } = await app.listen(0, '127.0.0.1')
    return { port, act: () => app.services.channels.publish(news(), 'said', data) }
  },
  async ws() {
    const { server, port } = await listen()
    const sockets = new WebSocketServer({ server })
    return {
      port,
      act(number) {
        const id = `0123456789ab.1700000000000.${number}`
        const text = JSON.stringify({ type: 'event', channel: 'news', event: 'said', id, data })
        for (const socket of sockets.clients) socket.send(text)
      },
    }
  },
}
