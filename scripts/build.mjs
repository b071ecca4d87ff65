// Builds the packages of the workspaces, each into its own `dist`. With a folder as the argument it writes the packages to
// `node_modules` of that folder instead, each with its package.json.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { copyTemplates } from './build/copy-templates.mjs'
import { joinModules } from './build/join-modules.mjs'
import { copyTypes } from './build/copy-types.mjs'
import { writeRecipes } from './build/recipes.mjs'
import { vendorScalar } from './build/vendor-scalar.mjs'
import { packages, ROOT } from './workspaces.mjs'

const target = process.argv[2] && resolve(process.argv[2])
const compiled = mkdtempSync(join(tmpdir(), 'mortar-compiled-'))
try {
  compile()
  for (const each of packages()) await build(each)
} finally {
  rmSync(compiled, { recursive: true, force: true })
}

function compile() {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', compiled]
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) throw new Error('The packages do not compile.')
}

async function build({ name, folder, manifest }) {
  const place = target === undefined ? join(ROOT, folder) : join(target, 'node_modules', name)
  const dist = join(place, 'dist')
  rmSync(dist, { recursive: true, force: true })
  await joinModules(join(compiled, folder), dist, manifest)
  copyTypes(join(compiled, folder), dist, manifest)
  if (target !== undefined) cpSync(join(ROOT, folder, 'package.json'), join(place, 'package.json'))
  if (name !== 'mortar') return
  copyTemplates(dist)
  writeRecipes(dist)
  vendorScalar(dist)
}
