import { subscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'

/** Header of every response while a route file is broken. Its value is the error on one line. */
const BROKEN_HEADER = 'X-Mortar-Broken'

/** Shows the error of broken route files in every response of this process. */
export function markResponses(error: string): void {
  const value = headerText(error)
  subscribe('http.server.request.start', (message) => {
    const { response } = message as { readonly response: ServerResponse }
    response.setHeader(BROKEN_HEADER, value)
  })
}

/** Replaces all but printable ASCII, which would make the response fail. */
function headerText(text: string): string {
  const line = text
    .split('\n')
    .map((part) => part.trim())
    .join(' ')
  return line.replaceAll(/[^\u0020-\u007E]/g, '?').slice(0, 500)
}
