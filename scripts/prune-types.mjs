// Removes the declaration files that no entry of `exports` reaches, such as those of the command line. A file takes at
// least 4 kB of a disk, and there are hundreds. The argument is the folder of the compiled files; dist by default.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const TARGET = resolve(process.argv[2] ?? join(ROOT, 'dist'))
const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

const reached = new Set()
const waiting = Object.values(exports)
  .flatMap(({ types }) => types ?? [])
  .map((file) => join(TARGET, file.replace(/^\.\/dist\//, '')))
while (waiting.length > 0) {
  const file = waiting.pop()
  if (reached.has(file)) continue
  reached.add(file)
  for (const [, path] of readFileSync(file, 'utf8').matchAll(
    /(?:from|import|import\()\s*['"](\.[^'"]+)['"]/g,
  )) {
    const found = join(dirname(file), path.replace(/\.[jt]s$/, '.d.ts'))
    // An example in a docstring imports files that do not exist.
    if (existsSync(found)) waiting.push(found)
  }
}
for (const folder of ['src', 'plugins'])
  for (const path of readdirSync(join(TARGET, folder), { recursive: true }))
    if (path.endsWith('.d.ts') && !reached.has(join(TARGET, folder, path))) rmSync(join(TARGET, folder, path))
