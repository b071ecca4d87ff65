/**
 * `npm run docs`: builds the documentation as a static site in scripts/site/dist.
 *
 *     npm run docs                      builds the site; a dead link fails
 *     npm run docs -- --base /mortar/   for a server that has the site below a path
 *     npm run docs -- --serve           builds it and serves it; --port 4173
 *     npm run docs -- --reference       writes docs/reference from the exports, without building the site
 *     npm run docs -- --check           fails if docs/reference is not up to date, without building the site
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'

const HERE = import.meta.dirname

const { values: options } = parseArgs({
  options: {
    base: { type: 'string', default: '/' },
    serve: { type: 'boolean', default: false },
    port: { type: 'string', default: '4173' },
    reference: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
})

install()
if (options.reference || options.check) await reference()
else await site()

/** Installs the packages of this folder if they are missing, or those of another lockfile. */
function install() {
  const installed = join(HERE, 'node_modules/.installed-lockfile')
  const lockfile = join(HERE, 'package-lock.json')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(lockfile, 'utf8')) return
  console.log('Installing the packages of scripts/site …')
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: HERE, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
  copyFileSync(lockfile, installed)
}

async function reference() {
  const { writeReference, staleReference } = await import('./reference/write.mjs')
  if (options.reference) return console.log(`Wrote ${(await writeReference()).join(', ')}`)
  const stale = await staleReference()
  if (stale.length === 0) return console.log('docs/reference is up to date.')
  console.error(`Not up to date: ${stale.join(', ')}. Run npm run docs -- --reference and commit the result.`)
  process.exitCode = 1
}

async function site() {
  const { build, serve } = await import('vitepress')
  await build(HERE, { base: options.base })
  console.log(`The site is in ${relative(process.cwd(), join(HERE, 'dist'))}; any file server can serve it.`)
  if (!options.serve) return
  await serve({ root: HERE, base: options.base, port: Number(options.port) })
}
