import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
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
 * Copies the reference application into an empty folder, adds the routes of the soak and with `isWatched` further bricks, and builds it with `mortar build`.
 * Links replace the installation. The packages of this repository must be built.
 *
 * @returns the folder of the build.
 */
export async function buildApplication(
  directory: string,
  routes = join(import.meta.dirname, 'routes'),
  { isWatched = false }: { readonly isWatched?: boolean } = {},
): Promise<string> {
  cpSync(join(ROOT, 'examples/notes'), directory, {
    recursive: true,
    filter: (path) => !/[\\/](data|dist|\.framework|test)$/.test(path),
  })
  cpSync(routes, join(directory, 'routes/soak'), { recursive: true })
  if (isWatched) {
    addBricks(join(directory, 'config/bricks.ts'))
    logRequests(join(directory, 'app.ts'))
  }
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({ name: 'notes', version: '1.0.0', type: 'module', mortar: { app: './app.ts' } }),
  )
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  linkPackages(directory)
  await runProgram([process.execPath, COMMAND_LINE, 'build'], { cwd: directory, env: buildEnv() })
  return join(directory, 'dist')
}

/** Adds metrics, and limits in Redis. */
function addBricks(file: string): void {
  const own = readFileSync(file, 'utf8')
  const imports = `import { env } from 'mortar'
import { limits } from '@mortar/limits'
import { metrics } from '@mortar/metrics'
import { redis } from '@mortar/redis'
`
  const further = `  redis({ url: env.string('REDIS_URL') }),
  limits({ store: 'redis' }),
  metrics({ token: env.string('METRICS_TOKEN') }),
] as const`
  writeFileSync(file, imports + own.replace('] as const', further))
}

function logRequests(file: string): void {
  const own = readFileSync(file, 'utf8')
  writeFileSync(file, own.replace('createApp(config)', 'createApp({ ...config, logRequests: true })'))
}

function linkPackages(directory: string): void {
  const modules = join(directory, 'node_modules')
  mkdirSync(modules)
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (!name.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
}

/** The environment of a build server: no variable of the application, and none of the process that builds. */
function buildEnv(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env
  return { PATH, HOME, NODE_ENV: 'production' }
}
