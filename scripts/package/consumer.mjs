// Folders outside of the repository with the packages installed from their tarballs.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packages, readJson, ROOT } from '../workspaces.mjs'

/** The tarballs by the name of their package, as npm reads them from package.json. */
export function pack(folder) {
  run(process.execPath, [join(ROOT, 'scripts/pack.mjs'), folder], ROOT)
  const fileOf = ({ name, version }) => `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`
  return new Map(packages().map(({ name, manifest }) => [name, `file:${join(folder, fileOf(manifest))}`]))
}

export function newConsumer(consumer, dependencies) {
  mkdirSync(consumer)
  const manifest = {
    name: 'shop',
    version: '1.0.0',
    type: 'module',
    private: true,
    dependencies,
    pnpm: { overrides: onlyTarballs(dependencies) },
  }
  writeFileSync(join(consumer, 'package.json'), JSON.stringify(manifest))
  return consumer
}

/** pnpm looks for the peers among the packages of a registry, which has none of these. */
function onlyTarballs(dependencies) {
  return Object.fromEntries(Object.entries(dependencies).filter(([, range]) => range.startsWith('file:')))
}

export function versionsOf(names) {
  const { versions } = readJson('src/dist/cli/recipes.json')
  return Object.fromEntries(
    names.map((name) => [name, versions[name] ?? readJson(`node_modules/${name}/package.json`).version]),
  )
}

export function installWithNpm(consumer) {
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
  run('npm', ['install', ...quiet], consumer)
}

/** Runs a program without the variables that would make Node or npm behave as inside this repository. */
export function run(program, args, cwd) {
  try {
    return execFileSync(program, args, {
      cwd,
      env: plainEnv(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  } catch (error) {
    return fail(`${program} ${args.join(' ')} failed:\n${error.stdout}${error.stderr}`)
  }
}

export function plainEnv() {
  const { NODE_OPTIONS: _, ...env } = process.env
  return env
}

export function refuse(what, found) {
  if (found.length > 0) fail(`${what}: ${found.join(', ')}`)
}

export function fail(message) {
  throw new Error(message)
}
