import { hasPeer, loadPeer } from './load-peer.ts'
import type { PeerNeed } from './peers.ts'

/** Column options for strings that `@mortar/database` compares byte by byte on MariaDB and MySQL. */
export const BINARY: object = { [Symbol.for('mortar.column.binary')]: true }

/** Column options for text above 64 KiB on MariaDB and MySQL. */
export const LONG: object = { [Symbol.for('mortar.column.long')]: true }

/**
 * Makes an entity from its options by the class `EntitySchema` of the needed package. Schema modules run while an
 * application is imported, so without the package this does not throw but returns the options alone: the start reports
 * all missing packages.
 */
export function makeEntity<Entity>(options: object, need: PeerNeed): Entity {
  const [name = ''] = need.peers.packages ?? []
  if (!hasPeer(name, need)) return { options } as Entity
  const { EntitySchema } = loadPeer<{ EntitySchema: new (options: object) => Entity }>(name, need)
  return new EntitySchema(options)
}
