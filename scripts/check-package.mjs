// Packs all packages, follows every link, export and import of them, and installs them outside of the repository with npm and
// pnpm: `mortar` alone, then an application with every brick, which is built, started and checked for its types. Needs a
// package registry, and the packages built.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkApplication, checkEntries, checkTypes, ENTRIES } from './package/application.mjs'
import { fail, installWithNpm, newConsumer, pack, run, versionsOf } from './package/consumer.mjs'
import { checkPackage } from './package/contents.mjs'
import { packages, ROOT } from './workspaces.mjs'

const MOST_PACKAGES = 80
const MOST_KILOBYTES = 13 * 1024
const MOST_MODULES = 40
const TOOLS = ['typescript', 'tsx', '@types/node']
const RUNTIME = ['yup', 'typeorm', 'better-sqlite3', '@types/koa']

const directory = mkdtempSync(join(tmpdir(), 'mortar-package-'))
try {
  const tarballs = pack(join(directory, 'tarballs'))
  const alone = newConsumer(join(directory, 'alone'), { mortar: tarballs.get('mortar') })
  installWithNpm(alone)
  const size = checkSize(alone)
  countModules(alone)
  checkEntries(
    alone,
    ENTRIES.filter((name) => name === 'mortar' || name.startsWith('mortar/')),
  )
  const dependencies = { ...Object.fromEntries(tarballs), ...versionsOf([...RUNTIME, ...TOOLS]) }
  const complete = newConsumer(join(directory, 'npm'), dependencies)
  installWithNpm(complete)
  for (const { name } of packages()) checkPackage(join(complete, 'node_modules', name))
  await checkApplication(complete)
  for (const [module, resolution] of [
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ])
    checkTypes(complete, module, resolution)
  checkSkew(complete)
  const withPnpm = await checkPnpm(dependencies)
  console.log(`${tarballs.size} packages with ${ENTRIES.length} entries work. ${size} ${withPnpm}`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function checkSize(consumer) {
  const count = run('npm', ['ls', '--all', '--parseable'], consumer).trim().split('\n').length - 1
  const kilobytes = Number(run('du', ['-sk', 'node_modules'], consumer).split('\t')[0])
  if (count > MOST_PACKAGES) fail(`An installation has ${count} packages, more than ${MOST_PACKAGES}`)
  if (kilobytes > MOST_KILOBYTES) fail(`An installation has ${kilobytes} kB, more than ${MOST_KILOBYTES}`)
  return `mortar alone installs ${count} packages with ${kilobytes} kB.`
}

/** The build joins modules into few files: scripts/build/join-modules.mjs. */
function countModules(consumer) {
  const loader = join(ROOT, 'test/fixtures/start/print-modules.mjs')
  const args = ['--import', loader, '--input-type=module', '-e', `import 'mortar'`]
  const { stderr } = spawnSync(process.execPath, args, { cwd: consumer, encoding: 'utf8' })
  const own = stderr.split('\n').filter((line) => line.includes('node_modules/mortar/dist/'))
  if (own.length === 0 || own.length > MOST_MODULES)
    fail(`An import of mortar loads ${own.length} of its files, and at most ${MOST_MODULES} are wanted.`)
}

/** A brick of another release is refused with both versions. */
function checkSkew(consumer) {
  const file = join(consumer, 'node_modules/@mortar/mail/package.json')
  const manifest = readFileSync(file, 'utf8')
  writeFileSync(file, manifest.replace(/"mortar": "[\d.]+"/, '"mortar": "9.9.9"'))
  const source = `import { createApp } from 'mortar'
import { mail } from '@mortar/mail'
const error = await createApp({ logger: false }).use(mail({ from: 'a@example.com' })).ready().catch((reason) => reason)
console.log(error.code, error.message)
`
  writeFileSync(join(consumer, 'skew.mjs'), source)
  const printed = String(run(process.execPath, ['skew.mjs'], consumer))
  writeFileSync(file, manifest)
  if (!/^MORTAR_PEER_VERSION @mortar\/mail .* is made for mortar 9\.9\.9, and this is mortar /.test(printed))
    fail(`A brick of another release is not refused: ${printed}`)
}

/** pnpm gives a package only what it declares. Without pnpm in the registry this is skipped. */
async function checkPnpm(dependencies) {
  const pnpm = (...args) => ['--yes', 'pnpm@10', ...args]
  try {
    run('npx', pnpm('--version'), directory)
  } catch (error) {
    return `pnpm: skipped, as it cannot be had (${error.message.split('\n')[0]}).`
  }
  const consumer = newConsumer(join(directory, 'pnpm'), dependencies)
  const options = ['--prefer-offline', '--ignore-scripts', '--store-dir', join(directory, 'store')]
  run('npx', pnpm('install', ...options), consumer)
  await checkApplication(consumer)
  return 'They work with pnpm.'
}
