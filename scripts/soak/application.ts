import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from './run-program.ts'

const ROOT = join(import.meta.dirname, '../..')
export const COMMAND_LINE = join(ROOT, 'src/dist/cli/main.js')

const TSCONFIG = {
  extends: join(ROOT, 'tsconfig.json'),
  compilerOptions: {
    customConditions: [],
    rootDir: '.',
    types: ['node'],
    typeRoots: ['node_modules/@types'],
  },
  include: ['.'],
  exclude: ['dist', 'node_modules', 'test'],
}

/**
 * Copies the reference application into an empty folder, adds the routes of the soak, and builds it with `mortar build`.
 * Links replace the installation. The packages of this repository must be built.
 *
 * @returns the folder of the build.
 */
export async function buildApplication(
  directory: string,
  routes = join(import.meta.dirname, 'routes'),
): Promise<string> {
  cpSync(join(ROOT, 'examples/notes'), directory, {
    recursive: true,
    filter: (path) => !/[\\/](data|dist|\.framework|test)$/.test(path),
  })
  cpSync(routes, join(directory, 'routes/soak'), { recursive: true })
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({ name: 'notes', version: '1.0.0', type: 'module', mortar: { app: './app.ts' } }),
  )
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  linkPackages(directory)
  await runProgram([process.execPath, COMMAND_LINE, 'build'], { cwd: directory, env: buildEnv() })
  return join(directory, 'dist')
}

function linkPackages(directory: string): void {
  const modules = join(directory, 'node_modules')
  mkdirSync(modules)
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (!name.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
}

/** Neither the loader nor the conditions of the process that builds. */
function buildEnv(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...env } = process.env
  return env
}
