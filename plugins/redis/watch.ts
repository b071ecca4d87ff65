import type { Redis } from 'ioredis'
import type { Logger } from 'mortar'
import { addressOf } from './client.ts'
import { codeOf } from './connect.ts'

/** Logs once when the connection is lost and once when it is back. Returns a function that ends this. */
export function watchConnection(client: Redis, logger: Logger): () => void {
  const address = addressOf(client)
  let isLost = false
  let reason = ''
  const onError = (error: unknown): void => {
    reason = codeOf(error)
  }
  const onClose = (): void => {
    if (isLost) return
    isLost = true
    logger.warn({ brick: 'redis', address, ...(reason && { reason }) }, 'The connection to Redis is lost')
  }
  const onReady = (): void => {
    if (!isLost) return
    isLost = false
    reason = ''
    logger.info({ brick: 'redis', address }, 'The connection to Redis is back')
  }
  client.on('error', onError).on('close', onClose).on('ready', onReady)
  return () => void client.off('error', onError).off('close', onClose).off('ready', onReady)
}
