// Puts awilix into the package as `#awilix`: its browser build, which is one file, and its types. As a dependency it would
// bring fast-glob, which only `loadModules` uses, and with it 18 packages. The argument is the folder of the compiled
// files; dist by default.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const TARGET = join(resolve(process.argv[2] ?? join(ROOT, 'dist')), 'vendor/awilix')
const SOURCE = dirname(dirname(createRequire(import.meta.url).resolve('awilix')))

const GLOB =
  'declare const glob: { sync(patterns: string | string[], options?: object): (string | object)[] };'

const { name, version, license, homepage } = JSON.parse(readFileSync(join(SOURCE, 'package.json'), 'utf8'))
mkdirSync(TARGET, { recursive: true })
// Tools that list licences and versions find the copy by this file. Its types are written for CommonJS.
const manifest = { name, version, license, homepage, type: 'commonjs' }
writeFileSync(join(TARGET, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
cpSync(join(SOURCE, 'LICENSE.md'), join(TARGET, 'LICENSE.md'))
cpSync(join(SOURCE, 'lib/awilix.browser.mjs'), join(TARGET, 'awilix.mjs'))
for (const file of readdirSync(join(SOURCE, 'lib')).filter((path) => path.endsWith('.d.ts'))) {
  const types = readFileSync(join(SOURCE, 'lib', file), 'utf8')
  // An application that checks declarations (`skipLibCheck: false`) does not have fast-glob.
  writeFileSync(join(TARGET, file), types.replace("import glob from 'fast-glob';", GLOB))
}
