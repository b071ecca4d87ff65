import { tarballName } from '../add/tarball.ts'
import { type ChosenParts, chosenBricks } from './chosen-bricks.ts'
import { frameworkManifest } from '../framework-manifest.ts'
import { recipeBook } from '../recipe-book.ts'
import type { Choices } from './choices.ts'

const DEVELOPMENT = [
  '@types/chai',
  '@types/mocha',
  '@types/node',
  'chai',
  'mocha',
  'tsx',
  'typescript',
] as const
/** Type-aware rules of oxlint, such as the one about forgotten awaits, are in a package of their own. */
const LINT = ['oxlint', 'oxlint-tsgolint'] as const

/**
 * package.json of a new application: the framework, the chosen bricks and what they need, in the versions that the framework
 * is tested with.
 */
export function renderPackage(choices: Choices): string {
  const own = frameworkManifest()
  const { name, database, parts, manager, managerVersion } = choices
  const packages = packagesOf(choices)
  const dependencies = { ...ofRelease(choices), ...versionsOf(['yup', ...packages.runtime]) }
  const tools = [...(parts.has('lint') ? LINT : []), ...(parts.has('format') ? ['prettier'] : [])]
  const development = packages.development.filter((each) => !packages.runtime.includes(each))
  const devDependencies = versionsOf([...DEVELOPMENT, ...tools, ...development])
  const manifest = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: own.engines,
    ...(managerVersion === undefined ? {} : { packageManager: `${manager}@${managerVersion}` }),
    scripts: {
      dev: 'mortar dev',
      build: 'mortar build',
      start: 'mortar start',
      test: 'mocha',
      check: 'tsc --noEmit',
      ...(parts.has('lint') ? { lint: 'oxlint' } : {}),
      ...(parts.has('format') ? { format: 'prettier --write .', 'format:check': 'prettier --check .' } : {}),
      ...(database === 'none' ? {} : { migrate: 'mortar migrate' }),
    },
    dependencies: sorted(dependencies),
    devDependencies,
    ...allowedScripts(choices),
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

interface Packages {
  readonly runtime: readonly string[]
  readonly development: readonly string[]
}

function packagesOf(choices: Choices): Packages {
  const chosen = chosenBricks(choices, recipeBook())
  const all = (bricks: readonly ChosenParts[], key: 'peers' | 'development'): string[] =>
    bricks.flatMap(({ parts }) => parts[key] ?? [])
  return {
    runtime: all(
      chosen.filter(({ onlyTests }) => !onlyTests),
      'peers',
    ),
    development: [
      ...all(chosen, 'development'),
      // The types of `ctx.koa` and `fromKoa`.
      '@types/koa',
      ...all(
        chosen.filter(({ onlyTests }) => onlyTests),
        'peers',
      ),
    ],
  }
}

/** Returns the exact versions that the framework is tested with, so that each package has one copy. */
function versionsOf(names: readonly string[]) {
  const { versions } = recipeBook()
  return sorted(Object.fromEntries(names.map((name) => [name, versions[name]])))
}

/** The framework and the chosen bricks: of its own version, or the tarballs of a folder. */
function ofRelease(choices: Choices): Record<string, string> {
  const { version } = frameworkManifest()
  const { mortar = version } = choices
  const bricks = chosenBricks(choices, recipeBook()).flatMap((each) => each.package ?? [])
  const place = (name: string): string =>
    mortar.startsWith('file:') ? `${mortar.replace(/\/$/, '')}/${tarballName(name, version)}` : mortar
  return Object.fromEntries(['mortar', ...bricks].map((name) => [name, place(name)]))
}

/** Names of the packages of a new application whose install scripts have to run. */
export function withScripts(choices: Choices): string[] {
  const scripts = chosenBricks(choices, recipeBook()).flatMap(({ parts }) => parts.scripts ?? [])
  return [...new Set([...scripts, 'esbuild'])].toSorted()
}

/** The key of package.json for packages whose install scripts may run. pnpm has a file for them. */
function allowedScripts(choices: Choices): object {
  const names = withScripts(choices)
  const each = <T>(value: T) => Object.fromEntries(names.map((name) => [name, value]))
  if (choices.manager === 'npm') return { allowScripts: each(true) }
  if (choices.manager === 'bun') return { trustedDependencies: names }
  return choices.manager === 'yarn' ? { dependenciesMeta: each({ built: true }) } : {}
}

function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
