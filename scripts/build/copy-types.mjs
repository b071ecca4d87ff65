// Copies the declaration files that an entry of `exports` reaches, and not those of the command line. A file takes at least
// 4 kB of a disk, and there are hundreds.
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

export function copyTypes(source, dist, { exports }) {
  for (const file of reachedFrom(entriesOf(source, exports))) cpSync(file, join(dist, relative(source, file)))
}

function entriesOf(source, exports) {
  const types = Object.values(exports).flatMap((target) => target.types ?? [])
  return types.map((file) => join(source, file.replace(/^\.\/dist\//, '')))
}

function reachedFrom(entries) {
  const reached = new Set(entries)
  // The loop also reaches what it adds.
  for (const file of reached)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const found = join(dirname(file), path.replace(/\.[jt]s$/, '.d.ts'))
      // An example in a docstring imports files that do not exist.
      if (existsSync(found)) reached.add(found)
    }
  return reached
}

const IMPORT = /(?:from|import|import\()\s*['"](\.[^'"]+)['"]/g
