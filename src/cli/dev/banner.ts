import { inColumns, type Paint } from '../terminal.ts'
import type { FromServer } from './messages.ts'

/** Renders the addresses of the running application. */
export function banner({ url, routes, pages, milliseconds }: FromServer & { type: 'ready' }): string {
  const rows = Object.entries(pages).map(([name, path]) => [`  ${name}`, url + path])
  return `${inColumns([['  App', url], ...rows])}\n  ${routes} routes, ready in ${milliseconds} ms, watching for changes`
}

/** Renders one line for a successful reload, or every error of a failed one. */
export function describeMessage(
  message: Extract<FromServer, { type: 'broken' | 'reloaded' }>,
  paint: Paint,
): string {
  if (message.type === 'broken') {
    const served = message.isStart
      ? 'The other routes are served; these respond with their error.'
      : 'The previous version of the routes stays active.'
    return `${paint.red('broken')} ${message.message}\n${paint.dim(served)}`
  }
  return `${paint.green('reloaded')} ${message.files.join(', ')} ${paint.dim(`${message.milliseconds} ms`)}`
}
