import { once } from 'node:events'
import { createServer } from 'node:http'

/** Listens at a free port with Node's own server. */
export async function listen(listener) {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, port: server.address().port }
}
