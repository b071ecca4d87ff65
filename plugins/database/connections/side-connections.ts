import { createHedge, inTime, lateDatabase, retryRolledBack } from 'mortar/kit'
import type { SideConnection, SideConnectionOptions, SideConnections, StatementResult } from 'mortar/kit'
import { openSqliteFile, sideLinksOf, type SideLink } from '../compat/side-link.ts'

/** The service `sideConnections`. */
export const sideConnections: SideConnections = { open: openBeside, openFile: openSqliteFile }

function openBeside(source: object, options: SideConnectionOptions = {}): SideConnection | undefined {
  const { deadline, hedge, ...settings } = options
  const openLink = sideLinksOf(source, settings)
  return openLink && createSideConnection(openLink, { ...(deadline && { deadline }), hedge: hedge === true })
}

/** Makes a connection from a function that opens a link, and is called back when the link is lost. */
export function createSideConnection(
  openLink: (onLost: () => void) => SideLink,
  { deadline, hedge = false }: Pick<SideConnectionOptions, 'deadline' | 'hedge'> = {},
): SideConnection {
  const run = hedge ? createHedge() : <T>(attempt: () => Promise<T>) => attempt()
  const links = new Set<SideLink>()
  let isClosed = false

  function open(): SideLink {
    const link = openLink(() => links.delete(link))
    links.add(link)
    return link
  }

  function destroy(ended: Iterable<SideLink>): void {
    for (const link of ended) if (links.delete(link)) link.destroy()
  }

  async function query(sql: string, values: readonly unknown[] = []): Promise<StatementResult> {
    let [idle] = links
    const used = new Set<SideLink>()
    const attempt = async () => {
      if (isClosed) throw new Error('The connection was closed.')
      const link = idle ?? open()
      idle = undefined
      used.add(link)
      return { result: await retryRolledBack(() => link.query(sql, values), TRIES), link }
    }
    try {
      const work = run(attempt)
      const limit = deadline?.()
      const { result, link } = await (limit === undefined
        ? work
        : inTime(work, limit, () => lateDatabase(limit)))
      used.delete(link)
      destroy(used)
      return result
    } catch (error) {
      destroy(used)
      throw error
    }
  }

  return {
    query,
    reset: () => destroy(links),
    close() {
      isClosed = true
      destroy(links)
    },
  }
}

/** Attempts of a statement that the server rolls back. */
const TRIES = 5
