import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that the receiver got. */
export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The server of a customer on this machine. `respond` decides about each request; 204 by default. */
export async function startReceiver() {
  const received: Received[] = []
  const behaviour: { respond: RequestListener } = {
    respond: (_request, response) => void response.writeHead(204).end(),
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    received.push({ headers: request.headers, body })
    behaviour.respond(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    behaviour,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
