import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { findManifest } from './find-manifest.ts'
import type { PeerProblem, Peers } from './peers.ts'
import { satisfies } from './satisfies.ts'

/** Finds the packages that are missing, of another version or without their compiled part. Loads only native packages. */
export function findPeerProblems({
  from,
  packages = [],
  native = [],
  development = false,
}: Peers): PeerProblem[] {
  const require = createRequire(from)
  const ranges = findManifest(fileURLToPath(from))?.peerDependencies ?? {}
  return [...new Set([...packages, ...native])].flatMap((name): PeerProblem[] => {
    const range = ranges[name]
    const problem = { name, range, development }
    const file = resolvePeer(name, require)
    if (file === null) return [{ kind: 'missing', ...problem }]
    const { version } = findManifest(file, name) ?? {}
    if (version !== undefined && range !== undefined && !satisfies(version, range))
      return [{ kind: 'version', ...problem, found: version }]
    const reason = native.includes(name) ? loadingError(name, require) : undefined
    return reason === undefined ? [] : [{ kind: 'native', ...problem, found: reason }]
  })
}

/**
 * Finds the file of a package that `require` would load; null for a package that is not installed. A package that has no
 * entry for `require` is installed: its file is then the one of package.json, or an empty path.
 */
export function resolvePeer(name: string, require: NodeJS.Require): string | null {
  try {
    return require.resolve(name)
  } catch (error) {
    return isNotFound(error) ? null : ''
  }
}

/**
 * Names a package with its installed version at the start of a message: `pg 8.23.0`, or `This version of pg` if its
 * package.json cannot be found, as in a bundle.
 * @param from `import.meta.url` of a module that loads the package.
 */
export function installed(name: string, from: string, shown = name): string {
  const file = resolvePeer(name, createRequire(from))
  const version = file && findManifest(file, name)?.version
  return version ? `${shown} ${version}` : `This version of ${shown}`
}

/** By the code: Node, Bun and Deno share it. */
export function isNotFound(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND'
}

function loadingError(name: string, require: NodeJS.Require): string | undefined {
  try {
    require(name)
    return undefined
  } catch (error) {
    return firstLine(error)
  }
}

export function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n')[0]!
}
