import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun' | 'deno'

/** Packages that an installation adds: names with version ranges. */
export interface Installation {
  readonly packages: readonly string[]
  readonly development: boolean
  /** Names of those packages whose install scripts have to run. */
  readonly scripts: readonly string[]
}

const LOCKFILES: readonly (readonly [file: string, manager: PackageManager])[] = [
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['deno.lock', 'deno'],
]

/**
 * Finds the package manager of a project: by `packageManager` of its package.json, then by the nearest lockfile upwards, as
 * a workspace has one at its top. npm without either.
 */
export function findPackageManager(
  root: string,
  manifest: Readonly<Record<string, unknown>>,
): PackageManager {
  const { packageManager } = manifest
  const named = typeof packageManager === 'string' ? packageManager.split('@')[0] : undefined
  const known = LOCKFILES.find(([, manager]) => manager === named)
  if (known !== undefined) return known[1]
  for (let folder = root; ; folder = dirname(folder)) {
    const found = LOCKFILES.find(([file]) => existsSync(join(folder, file)))
    if (found !== undefined) return found[1]
    if (dirname(folder) === folder) return 'npm'
  }
}

/** The command that installs packages, as a program with its arguments. */
export function installation(
  manager: PackageManager,
  { packages, development, scripts }: Installation,
): readonly string[] {
  if (manager === 'npm')
    return ['npm', 'install', ...(development ? ['--save-dev'] : []), '--no-fund', '--no-audit', ...packages]
  const dev = development ? ['--dev'] : []
  if (manager === 'pnpm')
    return [
      'pnpm',
      'add',
      ...(development ? ['--save-dev'] : []),
      ...scripts.map((name) => `--allow-build=${name}`),
      ...packages,
    ]
  if (manager === 'bun')
    return ['bun', 'add', ...dev, ...(scripts.length > 0 ? ['--trust'] : []), ...packages]
  if (manager === 'yarn') return ['yarn', 'add', ...dev, ...packages]
  const allowed =
    scripts.length > 0 ? [`--allow-scripts=${scripts.map((name) => `npm:${name}`).join(',')}`] : []
  return ['deno', 'add', ...dev, ...allowed, ...packages.map((specifier) => `npm:${specifier}`)]
}
