import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../architecture/tree.ts'
import { builtFramework } from './project.ts'

const run = promisify(execFile)

/** The framework as npm would unpack it: built, packed and taken out of its tarball again. */
export interface PackedFramework {
  readonly directory: string
  readonly tarball: string
  remove(): void
}

export async function packFramework(): Promise<PackedFramework> {
  const folder = mkdtempSync(join(tmpdir(), 'mortar-packed-'))
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', args, { cwd: builtFramework() })
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  await run('tar', ['-xzf', filename], { cwd: folder })
  const directory = join(folder, 'package')
  // As npm does for the packages that it installs.
  for (const [, file] of commandsOf('mortar', directory)) chmodSync(join(directory, file), 0o755)
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  return {
    directory,
    tarball: join(folder, filename),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly bin?: string | Readonly<Record<string, string>>
}

/**
 * Links what package.json of an application names, and what the framework brings along, so that a forgotten dependency
 * shows although nothing is downloaded or compiled.
 */
export function linkDependencies(app: string, framework: string): void {
  const own = readManifest(app)
  const brought = Object.keys(readManifest(framework).dependencies)
  const names = new Set([...Object.keys({ ...own.dependencies, ...own.devDependencies }), ...brought])
  for (const name of names) {
    const source = name === 'mortar' ? framework : join(ROOT, 'node_modules', name)
    link(source, join(app, 'node_modules', name))
    for (const [command, file] of commandsOf(name, source))
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

function readManifest(directory: string): Manifest {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest
}

function commandsOf(name: string, source: string): (readonly [string, string])[] {
  const { bin = {} } = readManifest(source)
  return typeof bin === 'string' ? [[name, bin]] : Object.entries(bin)
}

function link(source: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true })
  symlinkSync(source, target)
}
