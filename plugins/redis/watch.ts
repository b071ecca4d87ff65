import type { Redis } from 'ioredis'
import type { Outages } from 'mortar'
import { addressOf } from './client.ts'

/** Logs when the connection is lost and when it is back. Returns a function that ends this. */
export function watchConnection(client: Redis, outages: Outages): () => void {
  const address = addressOf(client)
  const fields = { brick: 'redis', address }
  let last: unknown
  const onError = (error: unknown): void => {
    last = error
  }
  const onClose = (): void => {
    const error = last ?? new Error('The connection has ended.')
    outages.begin({ part: 'redis', error, message: 'The connection to Redis is lost', fields })
  }
  const onReady = (): void => {
    last = undefined
    outages.end('redis')
  }
  client.on('error', onError).on('close', onClose).on('ready', onReady)
  return () => void client.off('error', onError).off('close', onClose).off('ready', onReady)
}
