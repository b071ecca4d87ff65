import type { Redis } from 'ioredis'
import { ignore, withDeadline } from 'mortar/kit'

/** Seconds for the responses of the commands that are still active, and for the end of the connection. */
const PATIENCE = 2

/** Closes a client after the responses of its commands, or after two seconds without them. Never rejects. */
export async function close(client: Redis): Promise<void> {
  // Without a connection nothing is active, and ioredis emits no end.
  if (client.status !== 'ready') return client.disconnect()
  const ended = new Promise<void>((resolve) => {
    client.once('end', resolve)
  })
  client.quit().catch(() => client.disconnect())
  await withDeadline(ended, PATIENCE).catch(ignore)
  client.disconnect()
}
