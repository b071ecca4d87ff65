import type { Redis } from 'ioredis'

/** Milliseconds for the responses of the commands that are still active, and for the end of the connection. */
const PATIENCE = 2000

/** Closes a client after the responses of its commands, or after two seconds without them. Never rejects. */
export async function close(client: Redis): Promise<void> {
  // Without a connection nothing is active, and ioredis emits no end.
  if (client.status !== 'ready') return client.disconnect()
  const ended = new Promise<void>((resolve) => {
    client.once('end', resolve)
  })
  client.quit().catch(() => client.disconnect())
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE)
  })
  await Promise.race([ended, late])
  clearTimeout(timer)
  client.disconnect()
}
