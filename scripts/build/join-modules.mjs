// Joins the compiled modules of a package into few files. Node spends about half a millisecond on each module of a graph,
// and the framework has hundreds. What an entry of `exports` or `bin` needs stays in one file each, what they share in
// `chunks`. Types keep their files.
//
// esbuild makes a chunk for each set of beginnings (entries, and modules that are imported when they are needed) that share
// a module. So each beginning of the core also imports its main entry: what that needs is then shared by all and is one
// chunk.
//
// yup is CommonJS. It is loaded by `require`, because its `import` makes Node 20 and 22 compile a lexer for export names.
import { createRequire } from 'node:module'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const YUP = Object.keys(createRequire(import.meta.url)('yup')).join(', ')
/** Processes of their own, which the command line starts by their paths. */
const STARTED = ['cli/dev/main.js', 'cli/build/proof-process.js']
const CORE = 'index.js'
/** Beginnings that run without the core: the command line itself, and the process that only has workers. */
const WITHOUT_CORE = new Set([
  'cli/main.js',
  'cli/run.js',
  'cli/commands/start.js',
  'cli/workers/run-primary.js',
  'cli/build/proof-process.js',
  'schema/yup/entry.js',
])

/** Writes the modules of `source`, the compiled files of the package, to `dist`. */
export async function joinModules(source, dist, { exports, bin = {} }) {
  const named = [...Object.values(exports).map((each) => each.default), ...Object.values(bin)]
  const entries = named
    .filter((file) => file?.endsWith('.js'))
    .map((file) => file.replace(/^(\.\/)?dist\//, ''))
  const options = {
    absWorkingDir: source,
    entryPoints: [...entries, ...STARTED.filter((file) => existsSync(join(source, file)))],
    outdir: dist,
    outbase: source,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    packages: 'external',
    // Keeps the imports without names that are added below, which `sideEffects` of package.json would remove.
    ignoreAnnotations: true,
    logLevel: 'warning',
    plugins: [{ name: 'yup', setup: requireYup }],
  }
  if (!existsSync(join(source, 'cli'))) return build(options)
  const beginnings = await beginningsOf(options)
  return build({
    ...options,
    plugins: [...options.plugins, { name: 'core', setup: importCore(source, beginnings) }],
  })
}

async function beginningsOf(options) {
  const { outputs } = (await build({ ...options, write: false, metafile: true })).metafile
  const entryPoints = Object.values(outputs).map(({ entryPoint }) => entryPoint)
  const own = entryPoints.filter((file) => file !== undefined && file !== CORE && !WITHOUT_CORE.has(file))
  return new Set(own.map((file) => join(options.absWorkingDir, file)))
}

function importCore(source, beginnings) {
  return ({ onLoad, onResolve }) => {
    onResolve({ filter: /^core:$/ }, () => ({ path: join(source, CORE) }))
    onLoad({ filter: /\.js$/ }, ({ path }) =>
      beginnings.has(path) ? { contents: `import 'core:'\n${readFileSync(path, 'utf8')}` } : undefined,
    )
  }
}

function requireYup({ onLoad, onResolve }) {
  onResolve({ filter: /^yup$/ }, () => ({ path: 'yup', namespace: 'yup' }))
  onLoad({ filter: /.*/, namespace: 'yup' }, () => ({
    contents: `import { createRequire } from 'node:module'
export const { ${YUP} } = createRequire(import.meta.url)('yup')`,
  }))
}
