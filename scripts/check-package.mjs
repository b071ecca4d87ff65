// Packs the package and uses it as an installation would: every entry is imported by plain Node from the built files,
// and a TypeScript program sees its types. Run it after `npm run build`.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const ENTRIES = Object.keys(MANIFEST.exports).filter((name) => name !== './package.json')
const WANTED = [
  'package.json',
  'LICENSE',
  'CHANGELOG.md',
  // What `mortar new` writes.
  'dist/src/cli/new/templates/app/server.ts.tpl',
  'dist/examples/notes/app.ts',
  'dist/examples/notes/config/auth.ts',
  // The tables of options, to which the documentation links.
  'plugins/auth/README.md',
  'plugins/database/README.md',
  'plugins/mail/README.md',
]
const FOREIGN =
  /^(src|plugins\/(?!\w+\/README\.md$)|test|scripts|config|examples|bench|data|coverage)\/|(^|\/)\.env|\.test\.(?!ts\.tpl$)|tsbuildinfo/

const directory = mkdtempSync(join(tmpdir(), 'mortar-package-'))
try {
  const files = pack(directory)
  checkFiles(files)
  linkDependencies(directory)
  importEntries(directory)
  checkTypes(directory)
  console.log(`The package holds ${files.length} files and ${ENTRIES.length} entries that work.`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

/** Unpacks the tarball as `node_modules/mortar` of a new consumer. Returns the paths in it. */
function pack(consumer) {
  const target = join(consumer, 'node_modules', MANIFEST.name)
  mkdirSync(target, { recursive: true })
  const [report] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', consumer], ROOT))
  run('tar', ['-xzf', join(consumer, report.filename), '-C', target, '--strip-components=1'], consumer)
  return report.files.map(({ path }) => path)
}

function checkFiles(files) {
  const foreign = files.filter((path) => FOREIGN.test(path))
  const missing = WANTED.filter((path) => !files.includes(path))
  if (foreign.length > 0) fail(`The package carries files that are not for its users: ${foreign.join(', ')}`)
  if (missing.length > 0) fail(`The package lacks ${missing.join(', ')}`)
}

/** Only what package.json names is there, so that a forgotten dependency shows. */
function linkDependencies(consumer) {
  const names = [...Object.keys(MANIFEST.dependencies), '@types/node']
  for (const name of names) {
    const link = join(consumer, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), link)
  }
}

function importEntries(consumer) {
  const lines = ENTRIES.map((name) => {
    const specifier = specifierOf(name)
    return `if (Object.keys(await import('${specifier}')).length === 0) throw new Error('${specifier} exports nothing')`
  })
  writeFileSync(join(consumer, 'import.mjs'), lines.join('\n'))
  run(process.execPath, ['import.mjs'], consumer)
}

/** A namespace is used as a number, which must be an error: types that cannot be found would be `any` and pass. */
function checkTypes(consumer) {
  const lines = ENTRIES.flatMap((name, index) => [
    `import * as entry${index} from '${specifierOf(name)}'`,
    `// @ts-expect-error a module is no number`,
    `export const number${index}: number = entry${index}`,
  ])
  writeFileSync(join(consumer, 'types.ts'), lines.join('\n'))
  writeFileSync(join(consumer, 'package.json'), '{ "type": "module" }')
  const options = ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022']
  run(join(ROOT, 'node_modules/.bin/tsc'), [...options, '--types', 'node', 'types.ts'], consumer)
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
