import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Peers } from 'mortar/kit'

/** A package with peers in a folder of its own, as an application has it in `node_modules`. */
export interface PackageFolder {
  /** Peers of the package, with their names. */
  peers(packages: readonly string[], more?: Partial<Peers>): Peers
  /** Puts a package beside it. */
  install(name: string, version: string, source?: string): void
  remove(): void
}

export function packageFolder(
  peerDependencies: Readonly<Record<string, string>>,
  name = 'brick',
): PackageFolder {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mortar-peers-')))
  const write = (folder: string, manifest: object, source: string): void => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(folder, 'index.js'), source)
  }
  const own = join(root, 'node_modules', name)
  write(own, { name, version: '1.0.0', peerDependencies }, '')
  return {
    peers: (packages, more) => ({ from: pathToFileURL(join(own, 'index.js')).href, packages, ...more }),
    install(installed, version, source = `exports.name = '${installed}'`) {
      write(join(root, 'node_modules', installed), { name: installed, version }, source)
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}
