/**
 * The part of a client of the official driver that knows its servers. Its types do not declare `topology`, which is
 * undefined before the first connection. Without it, a message has the driver's own reason, and `doctor` closes a
 * client that the application has connected at its import.
 */
export interface MongoClientLike {
  readonly topology?: { readonly description?: Topology }
  close?(): Promise<void>
}

/** Each member is checked before its use. */
interface Topology {
  readonly setName?: unknown
  readonly servers?: ReadonlyMap<string, ServerState>
}

interface ServerState {
  readonly type?: string
  readonly error?: { readonly message?: string } | null
}

/** True for a client that is connected or has been. */
export function wasConnected(client: MongoClientLike): boolean {
  return client.topology !== undefined
}

/** Returns the reason for each server that the driver could not use; undefined if it has found one. */
export function unreachedServers(client: MongoClientLike | undefined): string | undefined {
  const { servers, setName } = client?.topology?.description ?? {}
  if (servers === undefined) return undefined
  if (servers.size === 0 && typeof setName === 'string')
    return `none of its servers is a member of the replica set '${setName}'`
  const reasons = [...servers].flatMap(([address, { type, error }]) => {
    const reason = error?.message ?? (type === 'Unknown' ? 'no response' : undefined)
    return reason === undefined ? [] : [`${address}: ${reason}`]
  })
  return reasons.length === 0 ? undefined : reasons.join('; ')
}
