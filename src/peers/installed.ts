import { createRequire } from 'node:module'
import { findManifest } from './find-manifest.ts'
import { resolvePeer } from './find-problems.ts'

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
