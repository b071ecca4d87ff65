import { execFile, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { ROOT } from '../architecture/tree.ts'
import { builtFramework } from '../support/built-framework.ts'

const run = promisify(execFile)

/** The packages as npm would unpack them: built, packed and taken out of their tarballs again. */
export interface PackedFramework {
  /** Contains `mortar` and `@mortar/…`. */
  readonly directory: string
  /** The folder of the tarballs. */
  readonly tarballs: string
  remove(): void
}

export async function packFramework(): Promise<PackedFramework> {
  const folder = mkdtempSync(join(tmpdir(), 'mortar-packed-'))
  const tarballs = join(folder, 'tarballs')
  await run(process.execPath, [join(ROOT, 'scripts/pack.mjs'), tarballs, builtFramework()])
  const directory = join(folder, 'packages/node_modules')
  for (const file of readdirSync(tarballs)) {
    const name = file.replace(/-\d+\.\d+\.\d+\.tgz$/, '').replace(/^mortar-/, '@mortar/')
    mkdirSync(join(directory, name), { recursive: true })
    await run('tar', ['-xzf', join(tarballs, file), '--strip-components=1', '-C', join(directory, name)])
  }
  // As npm does for the packages that it installs.
  for (const [, file] of commandsOf(join(directory, 'mortar')))
    chmodSync(join(directory, 'mortar', file), 0o755)
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return { directory, tarballs, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

interface Manifest {
  readonly name: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
  readonly bin?: string | Readonly<Record<string, string>>
}

/** Links what package.json of an application names, so that a forgotten dependency shows although nothing is downloaded. */
export function linkDependencies(app: string, framework: string): void {
  const { dependencies, devDependencies } = readManifest(app)
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    const source = /^@?mortar(\/|$)/.test(name) ? join(framework, name) : join(ROOT, 'node_modules', name)
    link(source, join(app, 'node_modules', name))
    for (const [command, file] of commandsOf(source))
      link(join(source, file), join(app, 'node_modules/.bin', command))
  }
}

/** Installs with npm. The native parts, which take a minute to compile, are copied from the repository. */
export async function installDependencies(app: string): Promise<void> {
  await run('npm', ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: app,
  })
  for (const part of ['better-sqlite3/build/Release/better_sqlite3.node', 'argon2/build/Release/argon2.node'])
    // The package contains a finished build, so there is no build to copy.
    if (existsSync(join(ROOT, 'node_modules', part)))
      cpSync(join(ROOT, 'node_modules', part), join(app, 'node_modules', part), { recursive: true })
}

/**
 * Runs a script of package.json in the environment of npm, which takes half a second by itself.
 * @throws AssertionError with its output when it fails.
 */
export function runScript(app: string, script: string): void {
  const { PATH = '', HOME } = process.env
  // The programs of the repository, which npm puts there for its own tests, are not the application's.
  const others = PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'))
  // Many platforms set NODE_ENV for a build, and no other variable.
  const variables = script === 'build' ? { NODE_ENV: 'production' } : {}
  // A build server has no `.env` either.
  const [file, away] = [join(app, '.env'), join(app, 'env-away')]
  const hides = script === 'build' && existsSync(file)
  if (hides) renameSync(file, away)
  const ran = spawnSync('sh', ['-c', readManifest(app).scripts[script]!], {
    cwd: app,
    env: { PATH: [join(app, 'node_modules/.bin'), ...others].join(delimiter), HOME, ...variables },
    encoding: 'utf8',
  })
  if (hides) renameSync(away, file)
  expect(ran.status, ran.stdout + ran.stderr).to.equal(0)
}

function readManifest(directory: string): Manifest {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest
}

function commandsOf(source: string): (readonly [string, string])[] {
  const { name, bin = {} } = readManifest(source)
  return typeof bin === 'string' ? [[name, bin]] : Object.entries(bin)
}

function link(source: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true })
  symlinkSync(source, target)
}
