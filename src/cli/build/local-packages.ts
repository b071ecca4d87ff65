import { cp, writeFile } from 'node:fs/promises'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { StartupError } from '../../errors/startup-error.ts'
import { makeFolder } from '../../support/make-folder.ts'
import { findPackageJSON } from '../doctor/find-package.ts'
import { type Project, readManifest } from '../project/project.ts'
import { LOCAL_PACKAGES } from './build-record.ts'
import { type Dependencies, type Lock, placeOf } from './production-lock.ts'

type Manifest = Project['manifest'] & Dependencies

interface LocalPackage {
  readonly place: string
  readonly manifest: Manifest
}

/**
 * Finds the local packages of an application and their own ones: dependencies that are installed as a link to a folder
 * outside every `node_modules`, whatever their range is (`workspace:*`, `link:…`, `file:../shared`, or `*` in a
 * workspace of npm). Other ranges that only pnpm or Yarn knows become the installed version.
 */
export function findLocalPackages(root: string, manifest: Manifest) {
  const found = new Map<string, LocalPackage>()

  function read(own: Manifest, folder: string, place: string): Manifest {
    const replaced = (['dependencies', 'optionalDependencies'] as const).flatMap((key) =>
      own[key] === undefined ? [] : [[key, rangesOf(own[key], folder, place)] as const],
    )
    return { ...own, ...Object.fromEntries(replaced) }
  }

  function rangesOf(ranges: Readonly<Record<string, string>>, folder: string, place: string) {
    const entries = Object.entries(ranges).map(([name, range]) => {
      const path = localFolder(name, range, folder)
      if (path === undefined) return [name, installableRange(name, range, folder)] as const
      const target = enter(name, path)
      return [name, `file:${relative(place, target).split(sep).join('/')}`] as const
    })
    return Object.fromEntries(entries)
  }

  function enter(name: string, folder: string): string {
    const known = found.get(folder)
    if (known !== undefined) return known.place
    const place = LOCAL_PACKAGES + name
    const own = readManifest(folder)
    // Known before its dependencies are read, because packages may need each other.
    found.set(folder, { place, manifest: own })
    found.set(folder, { place, manifest: read(own, folder, place) })
    return place
  }

  const replaced = read(manifest, root, '')
  return {
    /** package.json of the application, with ranges that npm can install. */
    replaced,
    /** Returns the place in the output of such a folder, or of a path below it. */
    placeOf(path: string) {
      const real = existsSync(path) ? realpathSync(path) : path
      const [folder, copy] = [...found].find(([each]) => real === each || real.startsWith(each + sep)) ?? []
      return folder && `${copy!.place}${real.slice(folder.length).replaceAll(sep, '/')}`
    },
    /**
     * Returns a lockfile whose entries of these packages have the dependencies of the copies. Undefined if it lacks one of
     * them, as npm locks nothing for a folder outside the project.
     */
    inLock: (lock: Lock) => withCopies(lock, [...found.values()]),
    copyInto: (fresh: string) => copyAll(found, fresh),
  }
}

/** Returns the folder of a package that no registry has; undefined for any other package. */
function localFolder(name: string, range: string, from: string): string | undefined {
  const given = /^(?:file|link|portal):(.+)/.exec(range)?.[1]
  if (given?.endsWith('gz') === true) return undefined
  const installed = findPackageJSON(name, from)
  const folder = installed === undefined ? given && resolve(from, given) : dirname(installed)
  if (folder === undefined || !existsSync(folder)) return undefined
  const path = realpathSync(folder)
  // pnpm links the packages of a registry, too, to a folder below node_modules.
  return path.split(sep).includes('node_modules') ? undefined : path
}

/** @throws StartupError `MORTAR_BUILD_LOCAL` for a package of a workspace that is not installed. */
function installableRange(name: string, range: string, from: string): string {
  if (!/^(?:workspace|catalog|link|portal):/.test(range)) return range
  const file = findPackageJSON(name, from)
  if (file !== undefined) return String(readManifest(dirname(file))['version'])
  throw new StartupError(`package.json names ${name} as '${range}', which is not installed.`, {
    code: 'MORTAR_BUILD_LOCAL',
    remedy: 'Install the packages of the workspace, and build again.',
    files: [join(from, 'package.json')],
  })
}

function withCopies(lock: Lock, copies: readonly LocalPackage[]): Lock | undefined {
  const packages = { ...lock.packages }
  for (const { place, manifest } of copies) {
    const { dependencies, optionalDependencies } = manifest
    const names = Object.keys({ ...dependencies, ...optionalDependencies })
    if (names.some((name) => placeOf(name, place, packages) === undefined)) return undefined
    packages[place] = {
      ...packages[place],
      ...(dependencies && { dependencies }),
      ...(optionalDependencies && { optionalDependencies }),
    }
  }
  return { ...lock, packages }
}

/** Copies the folders without their installed packages and hidden files, which may be secrets. */
async function copyAll(found: ReadonlyMap<string, LocalPackage>, fresh: string): Promise<void> {
  for (const [folder, { place, manifest }] of found) {
    const { devDependencies: _, scripts: __, ...kept } = manifest
    makeFolder(join(fresh, place))
    await cp(folder, join(fresh, place), {
      recursive: true,
      filter: (path) =>
        path === folder || !/^(?:\.|node_modules$)/.test(path.slice(path.lastIndexOf(sep) + 1)),
    })
    await writeFile(join(fresh, place, 'package.json'), `${JSON.stringify(kept, null, 2)}\n`)
  }
}
