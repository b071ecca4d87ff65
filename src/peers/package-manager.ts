import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { processVariables } from '../support/env/environment.ts'
import type { PeerProblem } from './peers.ts'

/** Packages that an installation adds: names with version ranges. */
export interface Installation {
  readonly packages: readonly string[]
  readonly development: boolean
  /** Names of those packages whose install scripts have to run. */
  readonly scripts?: readonly string[]
}

const LOCKFILES = {
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'deno.lock': 'deno',
} as const

export type PackageManager = (typeof LOCKFILES)[keyof typeof LOCKFILES]

/**
 * Finds the package manager of a project in its folder, then in those above, as a workspace has its lockfile at the top:
 * by `packageManager` of package.json, then by a lockfile. Without any, the manager that runs this process; else npm.
 */
export function findPackageManager(from: string): PackageManager {
  for (let folder = from; ; folder = dirname(folder)) {
    const file = join(folder, 'package.json')
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    const named = known(/"packageManager"\s*:\s*"(\w+)/.exec(text)?.[1])
    const locked = Object.entries(LOCKFILES).find(([name]) => existsSync(join(folder, name)))
    if (named !== undefined || locked !== undefined) return named ?? locked![1]
    if (dirname(folder) === folder) return runningPackageManager() ?? 'npm'
  }
}

/** Returns the package manager that runs this process, if one does. */
export function runningPackageManager(): PackageManager | undefined {
  return known(processVariables()['npm_config_user_agent']?.split('/')[0])
}

function known(name?: string): PackageManager | undefined {
  return Object.values(LOCKFILES).find((each) => each === name)
}

/** The command that installs packages, as a program with its arguments. */
export function installation(
  manager: PackageManager,
  { packages, development, scripts = [] }: Installation,
): readonly string[] {
  const isNpm = manager === 'npm'
  const options = development ? [isNpm || manager === 'pnpm' ? '--save-dev' : '--dev'] : []
  if (manager === 'pnpm') options.push(...scripts.map((name) => `--allow-build=${name}`))
  if (manager === 'bun' && scripts.length > 0) options.push('--trust')
  if (manager === 'deno' && scripts.length > 0)
    options.push(`--allow-scripts=${scripts.map((name) => `npm:${name}`).join(',')}`)
  const specifiers = manager === 'deno' ? packages.map((each) => `npm:${each}`) : packages
  return [manager, isNpm ? 'install' : 'add', ...options, ...specifiers]
}

/**
 * The command of the project's package manager that installs packages in the given versions, or two for both kinds of
 * dependency.
 */
export function installCommand(
  packages: readonly (Pick<PeerProblem, 'name'> & Partial<PeerProblem>)[],
): string {
  const manager = findPackageManager(process.cwd())
  const commands = [false, true].flatMap((development) => {
    const wanted = packages.filter((each) => (each.development ?? false) === development).map(specifierOf)
    const command = installation(manager, { packages: [...new Set(wanted)], development })
    return wanted.length === 0 ? [] : [command.join(' ')]
  })
  return commands.join(' && ')
}

function specifierOf({ name, range }: Pick<PeerProblem, 'name'> & Partial<PeerProblem>): string {
  if (range === undefined) return name
  return /^[\w.^-]+$/.test(range) ? `${name}@${range}` : `'${name}@${range}'`
}

/** The remedy for a package whose install script has not run, or ran for another version of Node. */
export function buildRemedy(name: string): string {
  return {
    npm: `Add "allowScripts": { "${name}": true } to package.json, then run npm rebuild ${name}`,
    pnpm: `Run pnpm approve-builds, then pnpm rebuild ${name}`,
    yarn: `Add "dependenciesMeta": { "${name}": { "built": true } } to package.json, then run yarn rebuild ${name}`,
    bun: `Run bun pm trust ${name}`,
    deno: `Run deno install --allow-scripts=npm:${name}`,
  }[findPackageManager(process.cwd())]
}

/** The remedy for two copies of a package. */
export function oneCopyRemedy(name: string): string {
  const manager = findPackageManager(process.cwd())
  if (manager === 'bun' || manager === 'deno')
    return `Write one version of ${name} into every package.json that names it, then run ${manager} install`
  const list = manager === 'npm' ? 'ls' : 'why'
  return `Run ${manager} dedupe, so that there is one copy; ${manager} ${list} ${name} shows who installs the other`
}
