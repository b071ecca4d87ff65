// Joins the compiled modules into few files. Node spends about half a millisecond on each module of a graph, and the
// framework has hundreds. What an entry of `exports` or `bin` needs stays in one file each, what they share in `chunks`.
// Types keep their files. The argument is the folder of the compiled files; dist by default.
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { build } from 'esbuild'

const ROOT = join(import.meta.dirname, '..')
const TARGET = resolve(process.argv[2] ?? join(ROOT, 'dist'))
const { exports, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
/** A process of its own, which the command line starts by its path. */
const DEVELOPMENT_SERVER = 'src/cli/dev/main.js'

const named = [...Object.values(exports).map((each) => each.default), ...Object.values(bin)]
const entries = named
  .filter((file) => file?.endsWith('.js'))
  .map((file) => file.replace(/^(\.\/)?dist\//, ''))

const { metafile } = await build({
  absWorkingDir: TARGET,
  entryPoints: [...new Set([...entries, DEVELOPMENT_SERVER])],
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
  metafile: true,
  logLevel: 'warning',
})
// Templates of applications have no types beside them and stay.
for (const file of readdirSync(TARGET, { recursive: true }).filter((path) => path.endsWith('.d.ts')))
  if (!(file.replaceAll(sep, '/').replace(/\.d\.ts$/, '.js') in metafile.outputs))
    rmSync(join(TARGET, file.replace(/\.d\.ts$/, '.js')), { force: true })
