// Joins the compiled modules into few files. Node spends about half a millisecond on each module of a graph, and the
// framework has hundreds. What an entry of `exports` or `bin` needs stays in one file each, what they share in `chunks`.
// Types keep their files. The argument is the folder of the compiled files; dist by default.
//
// esbuild makes a chunk for each set of beginnings (entries, and modules that are imported when they are needed) that share
// a module. So each beginning also imports the core: what the core needs is then shared by all and is one chunk.
//
// yup is CommonJS. It is loaded by `require`, because its `import` makes Node 20 and 22 compile a lexer for export names.
import { createRequire } from 'node:module'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { build } from 'esbuild'

const ROOT = join(import.meta.dirname, '..')
const TARGET = resolve(process.argv[2] ?? join(ROOT, 'dist'))
const { exports, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
/** Processes of their own, which the command line starts by their paths. */
const STARTED = ['src/cli/dev/main.js', 'src/cli/build/proof-process.js']
const CORE = 'src/index.js'
/** Beginnings that run without the core: the command line itself, and the process that only has workers. */
const WITHOUT_CORE = new Set([
  'src/cli/main.js',
  'src/cli/run.js',
  'src/cli/commands/start.js',
  'src/cli/workers/run-primary.js',
  'src/cli/build/proof-process.js',
  'src/schema/yup/entry.js',
])
const YUP = Object.keys(createRequire(import.meta.url)('yup')).join(', ')

const named = [...Object.values(exports).map((each) => each.default), ...Object.values(bin)]
const entries = named
  .filter((file) => file?.endsWith('.js'))
  .map((file) => file.replace(/^(\.\/)?dist\//, ''))

const options = {
  absWorkingDir: TARGET,
  entryPoints: [...new Set([...entries, ...STARTED])],
  outdir: TARGET,
  outbase: TARGET,
  chunkNames: 'chunks/[name]-[hash]',
  allowOverwrite: true,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'es2023',
  packages: 'external',
  external: ['#awilix'],
  // Keeps the imports without names that are added below, which `sideEffects` of package.json would remove.
  ignoreAnnotations: true,
  metafile: true,
  logLevel: 'warning',
  plugins: [{ name: 'yup', setup: requireYup }],
}
const { outputs } = (await build({ ...options, write: false })).metafile
const beginnings = new Set(
  Object.values(outputs)
    .map(({ entryPoint }) => entryPoint)
    .filter((file) => file !== undefined && file !== CORE && !WITHOUT_CORE.has(file))
    .map((file) => join(TARGET, file)),
)
const { metafile } = await build({
  ...options,
  plugins: [...options.plugins, { name: 'core', setup: importCore }],
})
// Templates of applications have no types beside them and stay.
for (const file of readdirSync(TARGET, { recursive: true }).filter((path) => path.endsWith('.d.ts')))
  if (!(file.replaceAll(sep, '/').replace(/\.d\.ts$/, '.js') in metafile.outputs))
    rmSync(join(TARGET, file.replace(/\.d\.ts$/, '.js')), { force: true })

function importCore({ onLoad, onResolve }) {
  onResolve({ filter: /^core:$/ }, () => ({ path: join(TARGET, CORE) }))
  onLoad({ filter: /\.js$/ }, ({ path }) =>
    beginnings.has(path) ? { contents: `import 'core:'\n${readFileSync(path, 'utf8')}` } : undefined,
  )
}

function requireYup({ onLoad, onResolve }) {
  onResolve({ filter: /^yup$/ }, () => ({ path: 'yup', namespace: 'yup' }))
  onLoad({ filter: /.*/, namespace: 'yup' }, () => ({
    contents: `import { createRequire } from 'node:module'
export const { ${YUP} } = createRequire(import.meta.url)('yup')`,
  }))
}
