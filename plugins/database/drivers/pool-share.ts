import { processShare } from 'mortar'

/** Connections in the pools of all processes together; the drivers' own default for one process. */
const CONNECTIONS = 10
/** With one connection, a query beside an open transaction would wait forever. */
const FEWEST = 2

/**
 * Returns the size of the connection pool if several processes share a machine: ten connections divided by their
 * number, at least two. For a single process it returns nothing, and the driver decides.
 */
export function poolShare({ count } = processShare()): { readonly poolSize?: number } {
  return count === 1 ? {} : { poolSize: Math.max(FEWEST, Math.floor(CONNECTIONS / count)) }
}
