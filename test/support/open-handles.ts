import { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** Kinds that come and go by themselves, or belong to the runner: its standard streams and its module loader. */
const NOT_OURS = new Set(['TTYWrap', 'PipeWrap', 'FSReqPromise', 'FSReqCallback', 'MessagePort', 'CloseReq'])

interface Handle {
  address?: () => { port?: number } | string | null
  remotePort?: number
  localPort?: number
  spawnfile?: string
}

/** The test after which a handle was first seen. */
const firstSeen = new WeakMap<Handle, string>()

/** Resources that keep the event loop alive now: their number by kind, such as `TCPServerWrap` or `Timeout`. */
export function openHandles(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo())
    if (!NOT_OURS.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** Remembers which test was the first to end with each handle that is open now. */
export function noteOpenHandles(test: string): void {
  for (const handle of activeHandles()) if (!firstSeen.has(handle)) firstSeen.set(handle, test)
}

/**
 * Returns the resources that are open beyond a baseline. Sockets need a few turns of the event loop to go away, so this
 * looks up to 200 times, which takes two seconds on a quiet machine and longer on a loaded one.
 */
export async function leftOpenSince(baseline: ReadonlyMap<string, number>): Promise<Map<string, number>> {
  for (let look = 1; ; look++) {
    await wait(10)
    const left = openedSince(baseline)
    if (left.size === 0 || look === 200) return left
  }
}

/** The given counts, with details of the open handles: `1 TCPServerWrap (server on port 4711, open since "…")`. */
export function describeOpenHandles(counts: ReadonlyMap<string, number>): string {
  const kinds = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')
  const details = activeHandles().map(detailOf).filter(Boolean).join(', ')
  return details ? `${kinds} (${details})` : kinds
}

function openedSince(baseline: ReadonlyMap<string, number>): Map<string, number> {
  const counts = [...openHandles()].map(([kind, count]) => [kind, count - (baseline.get(kind) ?? 0)] as const)
  return new Map(counts.filter(([, count]) => count > 0))
}

/** Node's own list, which has no public name; it only enriches a message. */
function activeHandles(): readonly Handle[] {
  const { _getActiveHandles } = process as unknown as { _getActiveHandles?: () => Handle[] }
  return _getActiveHandles?.() ?? []
}

function detailOf(handle: Handle): string {
  const name = nameOf(handle)
  return name && `${name}, open since "${firstSeen.get(handle) ?? 'the end'}"`
}

function nameOf(handle: Handle): string {
  if (handle.spawnfile) return `program ${handle.spawnfile}`
  if (handle.remotePort) return `socket ${handle.localPort} to port ${handle.remotePort}`
  const address = handle.address?.()
  if (typeof address === 'object' && address?.port) return `server on port ${address.port}`
  return handle instanceof Socket && handle.connecting ? 'socket that connects' : ''
}
