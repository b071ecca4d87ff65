// The package.json of the published package: the condition `source`, which leads to files of the repository, is removed
// from `exports` and `imports`, and so are the scripts. `npm pack` and `npm publish` call this before (`write`) and after
// (`restore`) they read package.json.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const FILE = join(ROOT, 'package.json')
const KEPT = join(ROOT, 'node_modules/.package.json.unpublished')

/** Without `scripts`, and `mortar` without what concerns the reference application. */
function publishedManifest(manifest) {
  return {
    ...without('scripts', manifest),
    mortar: { bricks: manifest.mortar.bricks, new: manifest.mortar.new },
    exports: withoutSource(manifest.exports),
    imports: withoutSource(manifest.imports),
  }
}

function withoutSource(targets) {
  return Object.fromEntries(
    Object.entries(targets).map(([name, target]) => {
      if (typeof target === 'string') return [name, target]
      return [name, without('source', target)]
    }),
  )
}

function without(key, record) {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key))
}

function write() {
  // Left by a pack that was interrupted: it is the true one.
  if (existsSync(KEPT)) restore()
  const text = readFileSync(FILE, 'utf8')
  writeFileSync(KEPT, text)
  writeFileSync(FILE, `${JSON.stringify(publishedManifest(JSON.parse(text)), null, 2)}\n`)
}

function restore() {
  if (existsSync(KEPT)) renameSync(KEPT, FILE)
}

if (process.argv[2] === 'write') write()
else restore()
