/* Workload n for servers without a request log of these fields: what they write, with pino, to standard output. */
import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { lineOf } from './request-line.js'

/** pino as its documentation shows it: JSON lines to standard output, written before the call returns. */
export const logger = pino({ level: 'info' })

/**
 * Logs a request when its response is finished or its connection is gone.
 * @param {import('node:http').IncomingMessage} req
 * @param {import('node:http').ServerResponse} res
 * @param {(aborted: boolean) => string} routeOf the pattern of the matched route
 */
export function logWhenDone(req, res, routeOf) {
  const start = performance.now()
  const requestId = req.headers['x-request-id'] || randomUUID()
  const { method, url } = req
  const ip = req.socket.remoteAddress
  res.setHeader('X-Request-Id', requestId)
  res.once('close', () => {
    const aborted = !res.writableFinished
    logger.info(
      ...lineOf({
        requestId,
        method,
        url,
        route: routeOf(aborted),
        status: res.statusCode,
        ms: performance.now() - start,
        ip,
        aborted,
      }),
    )
  })
}
