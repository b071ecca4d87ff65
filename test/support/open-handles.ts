/** Kinds that come and go by themselves, or belong to the runner: its standard streams and its module loader. */
const NOT_OURS = new Set(['TTYWrap', 'PipeWrap', 'FSReqPromise', 'FSReqCallback', 'MessagePort', 'CloseReq'])

interface Addressed {
  address?: () => { port?: number } | string | null
  remotePort?: number
  localPort?: number
  spawnfile?: string
}

/** What keeps the event loop alive now: number of resources by kind, such as `TCPServerWrap` or `Timeout`. */
export function openHandles(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo())
    if (!NOT_OURS.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** The given kinds and counts, with the ports and programs of the handles that are open: `2 TCPServerWrap (port 4711)`. */
export function describeOpenHandles(counts: ReadonlyMap<string, number>): string {
  const kinds = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')
  const details = activeHandles().map(detailOf).filter(Boolean).join(', ')
  return details ? `${kinds} (${details})` : kinds
}

/** Node's own list, which has no public name; it only enriches a message. */
function activeHandles(): readonly Addressed[] {
  const { _getActiveHandles } = process as unknown as { _getActiveHandles?: () => Addressed[] }
  return _getActiveHandles?.() ?? []
}

function detailOf(handle: Addressed): string {
  if (handle.spawnfile) return `program ${handle.spawnfile}`
  if (handle.remotePort) return `socket ${handle.localPort} to port ${handle.remotePort}`
  const address = handle.address?.()
  return typeof address === 'object' && address?.port ? `server on port ${address.port}` : ''
}
