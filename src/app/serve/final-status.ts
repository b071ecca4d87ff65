import type { ServerResponse } from 'node:http'
import { isSentWhole } from '../../support/when-closed.ts'

/** Returns the status of a closed response; 499 when the client disconnected before the response began. */
export function finalStatus(res: ServerResponse): number {
  return res.headersSent || isSentWhole(res) ? res.statusCode : 499
}
