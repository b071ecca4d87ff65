import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'

/** Package managers of a new application. */
export const MANAGERS = ['npm', 'pnpm', 'yarn', 'bun'] as const

export type Manager = (typeof MANAGERS)[number]

/** Commands and files of a package manager, as the texts of a new application have them. */
export interface ManagerWords {
  /** Runs a script of package.json with arguments: `npm run migrate -- run` needs two dashes. */
  readonly run: string
  readonly dashes: string
  readonly test: string
  readonly start: string
  /** Runs a program of an installed package. */
  readonly exec: string
  readonly install: string
  /** Installs what the lockfile names, and fails if it does not match package.json. */
  readonly cleanInstall: string
  /** Removes the packages of development. */
  readonly prune: string
  readonly lockfile: string
  /** Files that an installation needs, besides package.json. */
  readonly installFiles: string
  /** Name of the manager in npm's registry. */
  readonly managerPackage: string
}

const WORDS: Readonly<Record<Manager, ManagerWords>> = {
  npm: {
    run: 'npm run',
    dashes: '-- ',
    test: 'npm test',
    start: 'npm start',
    exec: 'npx',
    install: 'npm install',
    cleanInstall: 'npm ci',
    prune: 'npm prune --omit=dev',
    lockfile: 'package-lock.json',
    installFiles: 'package-lock.json',
    managerPackage: 'npm',
  },
  pnpm: {
    ...scriptsOf('pnpm'),
    exec: 'pnpm',
    install: 'pnpm install',
    cleanInstall: 'pnpm install --frozen-lockfile',
    prune: 'CI=true pnpm prune --prod',
    lockfile: 'pnpm-lock.yaml',
    installFiles: 'pnpm-lock.yaml pnpm-workspace.yaml',
    managerPackage: 'pnpm',
  },
  yarn: {
    ...scriptsOf('yarn'),
    exec: 'yarn',
    install: 'yarn install',
    cleanInstall: 'yarn install --immutable',
    prune: 'yarn workspaces focus --all --production',
    lockfile: 'yarn.lock',
    installFiles: 'yarn.lock .yarnrc.yml',
    managerPackage: '@yarnpkg/cli-dist',
  },
  bun: {
    ...scriptsOf('bun run'),
    exec: 'bunx',
    install: 'bun install',
    cleanInstall: 'bun install --frozen-lockfile',
    prune: 'rm -rf node_modules && bun install --production --frozen-lockfile',
    lockfile: 'bun.lock',
    installFiles: 'bun.lock',
    managerPackage: 'bun',
  },
}

/** Versions for an application whose manager is not installed here, or is older than the settings of the application. */
const TESTED: Readonly<Record<Exclude<Manager, 'npm'>, string>> = {
  pnpm: '12.21.0',
  yarn: '4.18.1',
  bun: '1.4.5',
}

/** First major versions that understand the settings. */
const OLDEST: Readonly<Record<Exclude<Manager, 'npm'>, number>> = { pnpm: 11, yarn: 4, bun: 1 }

export function wordsOf(manager: Manager): ManagerWords {
  return WORDS[manager]
}

/** Returns the version of the installed manager, for `packageManager` of package.json; undefined for npm. */
export function versionOf(manager: Manager): string | undefined {
  if (manager === 'npm') return undefined
  const { stdout } = spawnSync(manager, ['--version'], {
    // Outside of a project, whose package.json may name another version.
    cwd: tmpdir(),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  const version = /^\d+\.\d+\.\d+$/.exec(stdout?.trim() ?? '')?.[0]
  return version !== undefined && Number.parseInt(version, 10) >= OLDEST[manager] ? version : TESTED[manager]
}

/** These managers pass arguments to a script without dashes. */
function scriptsOf(run: string) {
  return { run, dashes: '', test: `${run} test`, start: `${run} start` }
}
