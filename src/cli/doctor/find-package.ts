import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Finds the package.json of a package from a folder, even if the package does not export that file. */
export function findPackageJSON(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const file = join(folder, 'node_modules', name, 'package.json')
    if (existsSync(file)) return file
    if (dirname(folder) === folder) return undefined
  }
}
