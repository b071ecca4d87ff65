import { type ChosenParts, chosenBricks } from './chosen-bricks.ts'
import { frameworkManifest, type FrameworkManifest } from '../framework-manifest.ts'
import type { Choices } from './choices.ts'

const DEVELOPMENT = ['@types/mocha', '@types/node', 'mocha', 'tsx', 'typescript'] as const

/**
 * package.json of a new application: the framework, and the optional packages of the chosen bricks, in the versions that
 * the framework is tested with.
 */
export function renderPackage(choices: Choices): string {
  const own = frameworkManifest()
  const { name, database, mortar } = choices
  const packages = packagesOf(choices, own)
  const dependencies = { yup: own.dependencies['yup'], ...versionsOf(packages.runtime, own) }
  const development = packages.development.filter((each) => !packages.runtime.includes(each))
  const devDependencies = versionsOf([...DEVELOPMENT, ...development], own)
  const manifest = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: own.engines,
    scripts: {
      dev: 'mortar dev',
      build: 'mortar build',
      start: 'mortar start',
      test: 'mocha',
      check: 'tsc --noEmit',
      ...(database === 'none' ? {} : { migrate: 'mortar migrate' }),
    },
    dependencies: sorted({ mortar: mortar ?? own.version, ...dependencies }),
    devDependencies,
    allowScripts: scriptsOf([...packages.runtime, ...packages.development], own),
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

interface Packages {
  readonly runtime: readonly string[]
  readonly development: readonly string[]
}

function packagesOf(choices: Choices, own: FrameworkManifest): Packages {
  const chosen = chosenBricks(choices, own)
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
function versionsOf(names: readonly string[], { devDependencies }: FrameworkManifest) {
  return sorted(Object.fromEntries(names.map((name) => [name, devDependencies[name]])))
}

/** Newer versions of npm run only the install scripts that this key names. */
function scriptsOf(names: readonly string[], { allowScripts }: FrameworkManifest) {
  const present = new Set([...names, 'esbuild'])
  return Object.fromEntries(Object.entries(allowScripts).filter(([name]) => present.has(name)))
}

function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
