import { inColumns } from '../../support/columns.ts'
import type { FromServer } from './messages.ts'

/** Renders the addresses of the running application. */
export function addresses({ url, pages }: FromServer & { type: 'ready' }): string {
  const rows = Object.entries(pages).map(([name, path]) => [`  ${name}`, url + path])
  return inColumns([['  App', url], ...rows])
}
