/** A connection to a server, which runs statements one after another. */
export interface Link {
  run(sql: string, values: readonly unknown[]): Promise<unknown>
  /** Closes the connection without waiting for a server that may be silent. */
  destroy(): void
}

/** Tries of a statement that the server has rolled back. */
const TRIES = 5
/** Deadlocks, and PostgreSQL's failed serialization: the server has rolled the statement back. */
const ROLLED_BACK = ['ER_LOCK_DEADLOCK', '40P01', '40001']

/**
 * Returns `query` over one connection, which opens with the first statement, and again after a failure or a loss. A
 * statement that the server has rolled back is sent again.
 */
export function reconnecting(open: (onLost: () => void) => Link) {
  let link: Link | undefined

  function disconnect(): void {
    link?.destroy()
    link = undefined
  }

  function current(): Link {
    if (link !== undefined) return link
    const opened: Link = open(() => {
      if (link === opened) link = undefined
    })
    return (link = opened)
  }

  async function query(sql: string, values: readonly unknown[] = []): Promise<unknown> {
    const used = current()
    for (let attempt = 1; ; attempt++)
      try {
        return await used.run(sql, values)
      } catch (error) {
        if (ROLLED_BACK.includes(codeOf(error)) && attempt < TRIES) continue
        if (link === used) disconnect()
        throw error
      }
  }

  return { query, disconnect }
}

/** Returns the code of a driver's error. */
export function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown } | null)?.code)
}
