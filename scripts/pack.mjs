// Packs the packages for publication into a folder: node scripts/pack.mjs <folder> [<folder of built packages>]. Each is
// copied first, with the licence, and the core with its documentation. The condition `source` leads to files of the
// repository and is left out.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { packages, ROOT } from './workspaces.mjs'

const [target, built] = process.argv.slice(2).map((path) => resolve(path))
if (target === undefined) {
  process.stderr.write('Usage: node scripts/pack.mjs <folder> [<folder of built packages>]\n')
  process.exit(2)
}
const copies = mkdtempSync(join(tmpdir(), 'mortar-pack-'))
try {
  mkdirSync(target, { recursive: true })
  const folders = packages().map(copyPackage)
  execFileSync('npm', ['pack', '--silent', '--pack-destination', target, ...folders], { cwd: copies })
} finally {
  rmSync(copies, { recursive: true, force: true })
}

function copyPackage({ name, folder, manifest }) {
  const copy = join(copies, name)
  const isCore = name === 'mortar'
  const dist = built === undefined ? join(ROOT, folder, 'dist') : join(built, name, 'dist')
  mkdirSync(copy, { recursive: true })
  cpSync(dist, join(copy, 'dist'), { recursive: true })
  for (const file of ['README.md', 'CHANGELOG.md'])
    cpSync(join(ROOT, isCore ? '' : folder, file), join(copy, file))
  cpSync(join(ROOT, 'LICENSE'), join(copy, 'LICENSE'))
  if (isCore) copyDocs(copy)
  writeFileSync(join(copy, 'package.json'), `${JSON.stringify(published(manifest), null, 2)}\n`)
  return copy
}

/** Without the pages for those who work on Mortar itself. */
function copyDocs(copy) {
  const filter = (path) => !path.startsWith(join(ROOT, 'docs/contributing'))
  cpSync(join(ROOT, 'docs'), join(copy, 'docs'), { recursive: true, filter })
}

function published(manifest) {
  const exports = Object.entries(manifest.exports).map(([name, place]) => {
    if (typeof place === 'string') return [name, place]
    const { source: _, ...rest } = place
    return [name, rest]
  })
  return { ...manifest, exports: Object.fromEntries(exports) }
}
