import type { ServerResponse } from 'node:http'

/** Returns the status of a closed response; 499 when the client disconnected before the response began. */
export function finalStatus(res: ServerResponse): number {
  return res.headersSent || res.writableFinished ? res.statusCode : 499
}
