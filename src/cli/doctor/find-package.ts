import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** package.json of a package as it is found from a folder, whatever the package exports. */
export function findPackageJSON(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const file = join(folder, 'node_modules', name, 'package.json')
    if (existsSync(file)) return file
    if (dirname(folder) === folder) return undefined
  }
}
