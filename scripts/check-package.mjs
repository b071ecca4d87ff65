// Packs the package, follows every link, export and import of it, and installs it with npm and pnpm as an application does:
// first without any optional package, then with those of all bricks for the types. Needs a package registry.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const ENTRIES = Object.keys(MANIFEST.exports).filter((name) => name !== './package.json')
const MOST_PACKAGES = 60
const MOST_KILOBYTES = 12 * 1024
const WANTED = [
  'package.json',
  'LICENSE',
  'CHANGELOG.md',
  'dist/vendor/awilix/LICENSE.md',
  'dist/vendor/scalar/LICENSE',
  // The files that `mortar new` writes.
  'dist/src/cli/new/templates/app/server.ts.tpl',
  'dist/examples/notes/app.ts',
  'docs/README.md',
  'docs/reference/mortar.md',
  // The tables of options, to which the documentation links.
  ...['auth', 'database', 'limits', 'mail', 'metrics', 'redis', 'tracing'].map(
    (brick) => `plugins/${brick}/README.md`,
  ),
]
const MOST_MODULES = 40
const FOREIGN =
  /^(src|plugins\/(?!\w+\/README\.md$)|test|scripts|config|examples|bench|data|coverage)\/|(^|\/)\.env|\.test\.(?!ts\.tpl$)|tsbuildinfo|\.map$/

const directory = mkdtempSync(join(tmpdir(), 'mortar-package-'))
try {
  const { files, tarball } = pack()
  checkFiles(files)
  const consumer = newConsumer('npm')
  run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], consumer)
  checkLinks(files, installed(consumer))
  checkTargets(files, installed(consumer))
  const size = checkSize(consumer)
  importEntries(consumer)
  countModules(consumer)
  checkMissingPeers(consumer)
  const withPnpm = checkPnpm(tarball)
  linkPackages(consumer)
  for (const [module, resolution] of [
    ['nodenext', 'nodenext'],
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ])
    checkTypes(consumer, module, resolution)
  console.log(
    `The package has ${files.length} files and ${ENTRIES.length} entries that work. ${size} ${withPnpm}`,
  )
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function pack() {
  const [report] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', directory], ROOT))
  return { files: report.files.map(({ path }) => path), tarball: join(directory, report.filename) }
}

function newConsumer(name) {
  const consumer = join(directory, name)
  mkdirSync(consumer)
  writeFileSync(join(consumer, 'package.json'), '{ "type": "module", "private": true }')
  return consumer
}

function installed(consumer) {
  return join(consumer, 'node_modules', MANIFEST.name)
}

function checkFiles(files) {
  const foreign = files.filter((path) => FOREIGN.test(path))
  const missing = WANTED.filter((path) => !files.includes(path))
  if (foreign.length > 0) fail(`The package contains files that are not for its users: ${foreign.join(', ')}`)
  if (missing.length > 0) fail(`The package lacks ${missing.join(', ')}`)
}

/** Relative links of the Markdown files, and source maps that compiled files refer to. */
function checkLinks(files, folder) {
  const broken = files.flatMap((path) => {
    if (!/\.(md|m?js|d\.ts)$/.test(path)) return []
    const text = readFileSync(join(folder, path), 'utf8')
    const links = path.endsWith('.md')
      ? [...text.replaceAll(/```[^]*?```/g, '').matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)]
      : [...text.matchAll(/^\/\/# sourceMappingURL=(\S+)/gm)]
    return links
      .map(([, link]) => posix.join(posix.dirname(path), decodeURIComponent(link)))
      .filter((target) => !existsSync(join(folder, target)))
      .map((target) => `${path}: ${target}`)
  })
  if (broken.length > 0) fail(`Links of the package lead nowhere:\n${broken.join('\n')}`)
}

/** Every condition of `exports` and `imports`, and every program of `bin`, leads to a file. */
function checkTargets(files, folder) {
  const { exports, imports, bin, ...rest } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const targets = [exports, imports, bin].flatMap((part) =>
    Object.values(part).flatMap((target) => (typeof target === 'string' ? target : Object.values(target))),
  )
  const broken = targets.filter((target) => !files.includes(posix.normalize(target)))
  if (broken.length > 0) fail(`package.json names files that are not in the package: ${broken.join(', ')}`)
  const lacking = ['repository', 'homepage', 'bugs', 'license'].filter((key) => !rest[key])
  if (lacking.length > 0) fail(`package.json lacks ${lacking.join(', ')}`)
}

function checkSize(consumer) {
  const packages = run('npm', ['ls', '--all', '--parseable'], consumer).trim().split('\n').length - 1
  const kilobytes = Number(run('du', ['-sk', 'node_modules'], consumer).split('\t')[0])
  if (packages > MOST_PACKAGES) fail(`An installation has ${packages} packages, more than ${MOST_PACKAGES}`)
  if (kilobytes > MOST_KILOBYTES) fail(`An installation has ${kilobytes} kB, more than ${MOST_KILOBYTES}`)
  return `Alone it installs ${packages} packages with ${kilobytes} kB.`
}

/** No optional package is installed: no entry may import one before it is used. */
function importEntries(consumer) {
  const lines = ENTRIES.map((name) => `await check('${specifierOf(name)}')`)
  // The build joins modules, and two functions of one file cannot have the same name. What replaces a missing package
  // has no string as its name. yup names its functions otherwise.
  lines.unshift(`import { createRequire } from 'node:module'
  async function check(specifier) {
    const exported = Object.entries(await import(specifier))
    if (exported.length === 0) throw new Error(specifier + ' exports nothing')
    const yup = specifier.endsWith('/yup') ? createRequire(import.meta.resolve(specifier))('yup') : undefined
    const other = exported.find(([name, value]) => value !== yup?.[name] && typeof value === 'function' && typeof value.name === 'string' && value.name !== name)
    if (other) throw new Error(specifier + ' exports ' + other[0] + ' under the name ' + other[1].name)
  }`)
  writeFileSync(join(consumer, 'import.mjs'), lines.join('\n'))
  run(process.execPath, ['import.mjs'], consumer)
}

/** A start that lacks the packages of several bricks names all of them in one command. */
function checkMissingPeers(consumer) {
  const source = `import { createApp, StartupError } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as schema from '@mortar/auth/basic/schema'
import { database } from '@mortar/database'
import { mail } from '@mortar/mail'

const app = createApp({ environment: 'test' })
  .use(database({ type: 'better-sqlite3', database: ':memory:', entities: schema }))
  .use(mail({ from: 'hello@example.com' }))
  .use(auth(basicAuth({ secret: 'kQ2v8yB1tW9mZ4xC7nL0pR5sD3fG6hJa' })))
const error = await app.ready().catch((reason) => reason)
if (!(error instanceof StartupError)) throw error
console.log(error.code, error.remedy)
`
  writeFileSync(join(consumer, 'missing.mjs'), source)
  const printed = run(process.execPath, ['missing.mjs'], consumer).trim()
  const names = ['typeorm', 'better-sqlite3', 'nodemailer', 'html-to-text', 'argon2', 'jsonwebtoken', 'jwa']
  const wanted = [...names, 'rate-limiter-flexible'].map(
    (name) => `${name}@${MANIFEST.peerDependencies[name]}`,
  )
  const missing = wanted.filter((specifier) => !printed.includes(specifier))
  if (!printed.startsWith('MORTAR_PEER_MISSING Run npm install ') || missing.length > 0)
    fail(`The start does not name ${missing.join(', ')}: ${printed}`)
}

/** pnpm gives a package only what it declares. Without pnpm in the registry this is skipped. */
function checkPnpm(tarball) {
  const pnpm = (...args) => ['--yes', 'pnpm@10', ...args]
  try {
    run('npx', pnpm('--version'), directory)
  } catch (error) {
    return `pnpm: skipped, as it cannot be had (${error.message.split('\n')[0]}).`
  }
  const consumer = newConsumer('pnpm')
  run('npx', pnpm('add', '--prefer-offline', '--store-dir', join(directory, 'store'), tarball), consumer)
  importEntries(consumer)
  checkMissingPeers(consumer)
  return 'It works with pnpm.'
}

/** The optional packages and the compiler are those of the repository. */
function linkPackages(consumer) {
  for (const name of [...Object.keys(MANIFEST.peerDependencies), '@types/node']) {
    const link = join(consumer, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    if (!existsSync(link)) symlinkSync(join(ROOT, 'node_modules', name), link)
  }
}

/** The build joins modules into few files: scripts/join-modules.mjs. */
function countModules(consumer) {
  const loader = join(ROOT, 'test/fixtures/start/print-modules.mjs')
  const { stderr } = spawnSync(
    process.execPath,
    ['--import', loader, '--input-type=module', '-e', `import '${MANIFEST.name}'`],
    { cwd: consumer, encoding: 'utf8' },
  )
  const own = stderr.split('\n').filter((line) => line.includes(`node_modules/${MANIFEST.name}/dist/`))
  if (own.length === 0 || own.length > MOST_MODULES)
    fail(`An import of the package loads ${own.length} of its files, and at most ${MOST_MODULES} are wanted.`)
}

/** A namespace is used as a number, which must be an error: types that cannot be found would be `any` and pass. */
function checkTypes(consumer, module, resolution) {
  const lines = ENTRIES.flatMap((name, index) => [
    `import * as entry${index} from '${specifierOf(name)}'`,
    `// @ts-expect-error a module is not a number`,
    `export const number${index}: number = entry${index}`,
  ])
  const typed = `import { createApp, defineBrick } from 'mortar'
const app = createApp()
// @ts-expect-error a container is not a number
export const container: number = app.container
declare module 'mortar' { interface KnownServices { shelf: string } }
defineBrick({
  name: 'reader',
  start: ({ limiter, shelf, other }) => {
    // @ts-expect-error the type of a service of the package
    const first: number = limiter
    // @ts-expect-error the type of a service that this module declares
    const second: number = shelf
    // @ts-expect-error a service that no module declares is unknown
    const third: number = other
    return [first, second, third]
  },
})
`
  writeFileSync(join(consumer, 'types.ts'), `${lines.join('\n')}\n${typed}`)
  const options = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2022', '--types', 'node']
  options.push('--module', module, '--moduleResolution', resolution)
  run(join(ROOT, 'node_modules/.bin/tsc'), [...options, 'types.ts'], consumer)
}

function specifierOf(name) {
  return MANIFEST.name + name.slice(1)
}

/** Runs a program without the variables that would make Node or npm behave as inside this repository. */
function run(program, args, cwd) {
  const { NODE_OPTIONS: _, ...env } = process.env
  try {
    return execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    return fail(`${program} ${args.join(' ')} failed:\n${error.stdout}${error.stderr}`)
  }
}

function fail(message) {
  throw new Error(message)
}
