import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT } from '../architecture/tree.ts'
import { type ChildOutput, outputOf } from '../docs/child-output.ts'
import { builtFramework } from '../support/built-framework.ts'
import { type Ran, runHosted } from './command-host.ts'

/** Files of a project by their path. */
export type Files = Readonly<Record<string, string>>

/** An application in a directory of its own, and the command line that works on it. */
export interface TestProject {
  readonly directory: string
  /** The file of the command line. */
  readonly program: string
  write(files: Files): void
  /** Runs a command to its end, in an empty environment but for these variables. */
  mortar(args: readonly string[], options?: RunOptions): Ran
  /** Starts a command that keeps serving. */
  serve(args: readonly string[], options?: RunOptions): Serving
  remove(): void
}

export interface RunOptions {
  readonly variables?: Readonly<Record<string, string>>
  /** By default the directory of the project. */
  readonly directory?: string
  /** Runs the command in a process of its own, which takes longer. */
  readonly alone?: boolean
  /** Standard output of that process; a pipe by default. */
  readonly output?: number
}

/** A running command. */
export interface Serving {
  readonly child: ChildProcess
  readonly output: ChildOutput
  /** Ends it as Ctrl-C does. @returns its exit code. */
  stop(): Promise<number | null>
}

/** Commands that end only if they fail, so they need a process of their own. */
const SERVING = new Set(['dev', 'start', 'work'])

const PACKAGES = ['yup', 'tsx', 'typescript', '@types', 'typeorm', 'better-sqlite3']

/** The files of every project, unless it has its own. */
const COMMON: Files = {
  'package.json': JSON.stringify({
    name: 'shop',
    version: '1.0.0',
    type: 'module',
    dependencies: { yup: '1.7.1' },
  }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'ES2022',
      module: 'NodeNext',
      moduleResolution: 'NodeNext',
      strict: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      noEmit: true,
      types: ['node'],
    },
  }),
  'app.ts': `import { createApp } from 'mortar'\nexport const app = createApp()\n`,
  'server.ts': `import { join } from 'node:path'
import { env, loadRoutes } from 'mortar'
import { app } from './app.ts'

await loadRoutes(app, join(import.meta.dirname, 'routes'))
const { url } = await app.listen(env.port('PORT'), '127.0.0.1')
process.stdout.write(\`listens at \${url}\\n\`)
`,
}

/**
 * The command line is the one that is published: the packages are built once for all tests, unless another folder has them.
 */
export function createProject(files: Files, framework = builtFramework()): TestProject {
  const directory = mkdtempSync(join(tmpdir(), 'mortar-cli-'))
  const program = join(framework, 'mortar/dist/cli/main.js')

  function write(added: Files): void {
    for (const [path, content] of Object.entries(added)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), content)
    }
  }

  const settings = (options: RunOptions) => ({
    cwd: options.directory ?? directory,
    env: { PATH: process.env['PATH'], HOME: directory, NO_COLOR: '1', ...options.variables },
  })

  write({ ...COMMON, ...files })
  linkPackages(directory)
  return {
    directory,
    program,
    write,
    mortar(args, options = {}) {
      const { cwd, env } = settings(options)
      const { alone, output } = options
      if (!alone && output === undefined && !SERVING.has(args[0]!))
        return runHosted(framework, { args, directory: cwd, variables: env })
      const ran = spawnSync(process.execPath, [program, ...args], {
        cwd,
        env,
        encoding: 'utf8',
        stdio: ['pipe', output ?? 'pipe', 'pipe'],
      })
      return { code: ran.status, out: ran.stdout, err: ran.stderr }
    },
    serve(args, options = {}) {
      const child = spawn(process.execPath, [program, ...args], {
        ...settings(options),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const closed = once(child, 'close')
      return {
        child,
        output: outputOf(child),
        async stop() {
          if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT')
          await closed
          return child.exitCode
        },
      }
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** Links the framework and the packages that an application needs. */
export function linkPackages(directory: string): void {
  mkdirSync(join(directory, 'node_modules'), { recursive: true })
  for (const name of ['mortar', '@mortar'])
    symlinkSync(join(builtFramework(), name), join(directory, 'node_modules', name))
  for (const name of PACKAGES)
    symlinkSync(join(ROOT, 'node_modules', name), join(directory, 'node_modules', name))
}
