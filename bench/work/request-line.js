/**
 * The line that workload n logs for each request, as Mortar writes it.
 * @returns the fields and the message
 */
export function lineOf({ requestId, method, url, route, status, ms: elapsed, ip, aborted }) {
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  const ms = Math.round(elapsed * 10) / 10
  return [
    { event: 'request.completed', requestId, method, path, route, status, ms, ip, aborted },
    `${method} ${path} ${status}${aborted ? ' aborted' : ''} ${ms} ms`,
  ]
}
