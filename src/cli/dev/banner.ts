import { inColumns, type Paint } from '../terminal.ts'
import type { FromServer } from './messages.ts'

/** Where everything is, once the application serves. */
export function banner({ url, routes, pages, milliseconds }: FromServer & { type: 'ready' }): string {
  const rows = Object.entries(pages).map(([name, path]) => [`  ${name}`, url + path])
  return `${inColumns([['  App', url], ...rows])}\n  ${routes} routes, ready in ${milliseconds} ms, watching for changes`
}

/** One line for a reload, and all of what is wrong for one that failed. */
export function describeMessage(message: Exclude<FromServer, { type: 'ready' }>, paint: Paint): string {
  if (message.type === 'broken')
    return `${paint.red('broken')} ${message.message}\n${paint.dim('The routes before the change go on serving.')}`
  return `${paint.green('reloaded')} ${message.files.join(', ')} ${paint.dim(`${message.milliseconds} ms`)}`
}
