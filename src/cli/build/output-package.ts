import { existsSync } from 'node:fs'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { StartupError } from '../../errors/startup-error.ts'
import { makeFolder } from '../../support/make-folder.ts'
import { findPackageManager } from '../../peers/package-manager.ts'
import { LOCAL_PACKAGES } from './build-record.ts'
import { isFile, type Project, shown } from '../project/project.ts'
import { findLocalPackages } from './local-packages.ts'
import { compiledImports } from './output-imports.ts'
import { type Dependencies, type Lock, packagesWithScripts, productionLock } from './production-lock.ts'

/** Folder of the output for packages that package.json names by a file. */
const PACKED = 'packages'

const LOCKFILE = 'package-lock.json'

/**
 * Writes package.json of the output and, for npm, a lockfile with the packages of production. Packages that the
 * application names by a packed file, and those of its workspace, are copied into the output.
 * @param fresh the folder that becomes the output.
 * @returns a note if the output has no lockfile.
 */
export async function writeOutputPackage(project: Project, fresh: string): Promise<string | undefined> {
  const { root, out, manifest } = project
  const local = findLocalPackages(root, manifest)
  /** Place in the output by path. Files of two folders may have one name. */
  const packed = new Map<string, string>()
  /** Location of a file or folder, as the output names it. */
  const moved = (location: string): string => {
    const scheme = location.startsWith('file:') ? 'file:' : ''
    const path = resolve(root, location.slice(scheme.length))
    const place = local.placeOf(path)
    if (place !== undefined) return `${scheme}${place}`
    if (isFile(path)) {
      const isTaken = [...packed.keys()].some((other) => other !== path && basename(other) === basename(path))
      const folder = isTaken ? `${PACKED}/${packed.size}` : PACKED
      if (!packed.has(path)) packed.set(path, `${folder}/${basename(path)}`)
      return `file:${packed.get(path)}`
    }
    return `${scheme}${relative(out, path).split(sep).join('/')}`
  }
  const written = manifestOf({ root, out, manifest: local.replaced }, moved)
  const lock = await readLock(root)
  const own = lock === undefined ? undefined : local.inLock(productionLock(lock, written, moved))
  const allowed = allowedScripts(manifest, own)
  await writeJson(join(fresh, 'package.json'), { ...written, ...(allowed && { allowScripts: allowed }) })
  if (own !== undefined) await writeJson(join(fresh, LOCKFILE), own)
  await local.copyInto(fresh)
  for (const [path, place] of packed) {
    makeFolder(dirname(join(fresh, place)))
    await copyFile(path, join(fresh, place))
  }
  const hasDependencies = Object.keys(written.dependencies ?? {}).length > 0
  return own === undefined && hasDependencies ? noteFor(project, lock !== undefined) : undefined
}

/** package.json of the output: it marks the files as ES modules and lists what production installs. */
function manifestOf(
  { root, out, manifest }: Pick<Project, 'root' | 'out' | 'manifest'>,
  moved: (location: string) => string,
) {
  const { name, version, engines, overrides, imports } = manifest
  const { dependencies, optionalDependencies } = manifest as Dependencies
  return {
    name,
    version,
    private: true,
    type: 'module',
    ...(engines === undefined ? {} : { engines }),
    ...(imports === undefined ? {} : { imports: compiledImports(imports, shown(out, root)) }),
    ...(dependencies && { dependencies: withMoved(dependencies, moved) }),
    ...(optionalDependencies && { optionalDependencies: withMoved(optionalDependencies, moved) }),
    ...(overrides === undefined ? {} : { overrides }),
  }
}

function withMoved(dependencies: Readonly<Record<string, string>>, moved: (location: string) => string) {
  const entries = Object.entries(dependencies).map(
    ([name, range]) => [name, isLocation(range) ? moved(range) : range] as const,
  )
  return Object.fromEntries(entries)
}

/** True for a path of the application. A package that is copied has its place in the output already. */
function isLocation(range: string): boolean {
  return range.startsWith('file:') && !range.startsWith(`file:${LOCAL_PACKAGES}`)
}

/** Newer versions of npm run only the install scripts that package.json allows. */
function allowedScripts(manifest: Project['manifest'], lock: Lock | undefined) {
  const allowed = manifest['allowScripts'] as Readonly<Record<string, unknown>> | undefined
  if (allowed === undefined || lock === undefined) return allowed
  const present = new Set(packagesWithScripts(lock))
  // A key may have a version: `argon2@0.45.1`.
  const kept = Object.entries(allowed).filter(([key]) => present.has(key.replace(/(?<=.)@.*$/, '')))
  return Object.fromEntries(kept)
}

/**
 * Reads the lockfile of npm beside package.json.
 * @throws StartupError `MORTAR_BUILD_LOCKFILE` if it is not JSON, as in an unfinished merge.
 */
export async function readLock(root: string): Promise<Lock | undefined> {
  const file = [LOCKFILE, 'npm-shrinkwrap.json']
    .map((name) => join(root, name))
    .find((path) => existsSync(path))
  if (file === undefined) return undefined
  const lock = parseLock(await readFile(file, 'utf8'), file)
  return lock?.packages === undefined ? undefined : (lock as Lock)
}

function parseLock(text: string, file: string): Partial<Lock> | null {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as Partial<Lock> | null
  } catch (cause) {
    const hasMarkers = /^(?:<{7}|>{7}) /m.test(text)
    throw new StartupError(
      `${file} ${hasMarkers ? 'has the markers of a merge conflict' : `is not valid JSON: ${(cause as Error).message}`}.`,
      {
        code: 'MORTAR_BUILD_LOCKFILE',
        remedy: hasMarkers
          ? 'Run npm install --package-lock-only, which merges both sides, and build again.'
          : 'Take the file from the last commit, or delete it and run npm install. Then build again.',
        files: [file],
        cause,
      },
    )
  }
}

function noteFor({ root, out }: Project, hasLock: boolean): string {
  const manager = findPackageManager(root)
  const folder = basename(out)
  const reason = hasLock
    ? `${LOCKFILE} does not have what the packages outside the project need`
    : manager === 'npm'
      ? `there is no ${LOCKFILE} of npm 7 or later beside package.json`
      : `it is written for npm only, and this project uses ${manager}`
  return `${folder} has no lockfile: ${reason}. An installation there may choose other versions than the tests had.`
}

async function writeJson(file: string, value: object): Promise<void> {
  makeFolder(dirname(file))
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`)
}
