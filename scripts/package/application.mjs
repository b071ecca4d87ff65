// An application with bricks in a folder with the installed packages: imports, types, build and start.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { packages } from '../workspaces.mjs'
import { fail, plainEnv, run } from './consumer.mjs'

export const ENTRIES = packages().flatMap(({ manifest }) =>
  Object.keys(manifest.exports)
    .filter((name) => name !== './package.json')
    .map((name) => posix.join(manifest.name, name)),
)
/** An entry for a package that the user chooses: without it the import is the StartupError that names it. */
const NEEDS_PEER = new Set(['@mortar/auth-library/kysely'])

const APPLICATION = {
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'es2022',
      module: 'nodenext',
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      rewriteRelativeImportExtensions: true,
      types: ['node'],
    },
    exclude: ['dist', 'node_modules', 'types.ts'],
  }),
  'app.ts': `import { createApp } from 'mortar'
import { auth } from '@mortar/auth'
import { hostedAuth } from '@mortar/auth-hosted'
import { limits } from '@mortar/limits'
import { mail } from '@mortar/mail'
import { metrics } from '@mortar/metrics'
import { tracing } from '@mortar/tracing'

export const app = createApp()
  .use(mail({ from: 'shop@example.com', transport: 'memory' }))
  .use(limits())
  .use(metrics({ token: 'a-long-token-of-metrics' }))
  .use(tracing())
  .use(auth(hostedAuth({ issuer: 'https://login.example.com', audience: 'shop' })))
`,
  'server.ts': `import { join } from 'node:path'
import { loadRoutes } from 'mortar'
import { app } from './app.ts'

await loadRoutes(app, join(import.meta.dirname, 'routes'))
const { url } = await app.listen(0, '127.0.0.1')
process.stdout.write(\`listens at \${url}\\n\`)
`,
  'routes/index.get.ts': `export const limit = { limit: 100, window: '1m', by: 'ip' }\nexport default () => ({ works: true })\n`,
}

/** No package of a choice is installed: no entry may import one before it is used. */
export function checkEntries(consumer, entries) {
  // The build joins modules, and two functions of one file cannot have the same name. yup names its functions otherwise.
  const lines = [
    `import { createRequire } from 'node:module'
async function check(specifier) {
  const exported = Object.entries(await import(specifier))
  if (exported.length === 0) throw new Error(specifier + ' exports nothing')
  const yup = specifier.endsWith('/yup') ? createRequire(import.meta.resolve(specifier))('yup') : undefined
  const other = exported.find(([name, value]) => value !== yup?.[name] && typeof value === 'function' && typeof value.name === 'string' && value.name !== name)
  if (other) throw new Error(specifier + ' exports ' + other[0] + ' under the name ' + other[1].name)
}`,
    ...entries.map((name) => `await check('${name}')`),
  ]
  writeFileSync(join(consumer, 'import.mjs'), lines.join('\n'))
  run(process.execPath, ['import.mjs'], consumer)
}

/** An application with bricks: its types, `mortar build`, and its response under `mortar start`. */
export async function checkApplication(consumer) {
  checkEntries(
    consumer,
    ENTRIES.filter((name) => !NEEDS_PEER.has(name)),
  )
  for (const [path, text] of Object.entries(APPLICATION)) {
    mkdirSync(join(consumer, posix.dirname(path)), { recursive: true })
    writeFileSync(join(consumer, path), text)
  }
  checkTypes(consumer, 'nodenext', 'nodenext')
  run(process.execPath, [compilerOf(consumer), '-p', '.'], consumer)
  const mortar = join(consumer, 'node_modules/mortar/dist/cli/main.js')
  run(process.execPath, [mortar, 'build'], consumer)
  const child = spawn(process.execPath, [mortar, 'start'], { cwd: join(consumer, 'dist'), env: plainEnv() })
  try {
    const url = await addressOf(child)
    const answer = await (await fetch(url)).text()
    if (answer !== '{"works":true}') fail(`The application answers ${answer}`)
  } finally {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
}

async function addressOf(child) {
  let output = ''
  child.stderr.on('data', (chunk) => (output += chunk))
  for await (const chunk of child.stdout) {
    output += chunk
    const [, url] = /listens at (\S+)/.exec(output) ?? []
    if (url !== undefined) return url
  }
  return fail(`The application does not start:\n${output}`)
}

/** A namespace is used as a number, which must be an error: types that cannot be found would be `any` and pass. */
export function checkTypes(consumer, module, resolution) {
  const lines = ENTRIES.filter((name) => !NEEDS_PEER.has(name)).flatMap((name, index) => [
    `import * as entry${index} from '${name}'`,
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
    // @ts-expect-error the type of a service of another package
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
  const options = [
    '--strict',
    '--noEmit',
    '--skipLibCheck',
    '--target',
    'es2022',
    '--types',
    'node',
    '--ignoreConfig',
  ]
  options.push('--module', module, '--moduleResolution', resolution)
  run(process.execPath, [compilerOf(consumer), ...options, 'types.ts'], consumer)
}

function compilerOf(consumer) {
  return join(consumer, 'node_modules/typescript/bin/tsc')
}
