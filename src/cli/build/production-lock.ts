/** Keys of package.json by which npm finds packages. */
export interface Dependencies {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** An entry of npm's lockfile: one package in one place. */
interface LockedPackage extends Dependencies {
  readonly resolved?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly devOptional?: boolean
}

/** npm's lockfile from version 2 on: packages by their path, and the application at the empty path. */
export interface Lock {
  readonly lockfileVersion: number
  readonly packages: Readonly<Record<string, LockedPackage>>
}

/**
 * Reduces a lockfile to the packages that the given manifest needs in production, in the same versions and places.
 * @param moved returns the new path of a package outside `node_modules`, and the new location of a packed one.
 */
export function productionLock(
  lock: Lock,
  manifest: Dependencies & object,
  moved: (location: string) => string,
): Lock & object {
  const packages: Record<string, unknown> = { '': manifest }
  for (const path of [...neededPaths(lock.packages, manifest)].toSorted()) {
    const {
      dev: _,
      devOptional: __,
      ...entry
    } = lock.packages[path] as LockedPackage & Record<string, unknown>
    const { resolved } = entry
    const isLocal = entry.link === true || resolved?.startsWith('file:') === true
    packages[inNodeModules(path) ? path : moved(path)] = isLocal
      ? { ...entry, resolved: moved(resolved!) }
      : entry
  }
  return { ...rootOf(lock, manifest), packages } as Lock
}

/** Names of the packages of a lockfile that have an install script. */
export function packagesWithScripts({ packages }: Lock): string[] {
  return Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
}

/** The other keys of the lockfile. `dependencies` of version 2 repeats the packages for npm 6. */
function rootOf(lock: Lock, manifest: object): object {
  const { name, version } = manifest as { readonly name?: unknown; readonly version?: unknown }
  const {
    packages: _packages,
    dependencies: _dependencies,
    ...rest
  } = lock as Lock & { dependencies?: unknown }
  return { ...rest, name, version }
}

function inNodeModules(path: string): boolean {
  return path.startsWith('node_modules/')
}

/** Follows the dependencies from the application. Optional peers count only where something else needs them. */
function neededPaths(packages: Lock['packages'], manifest: Dependencies): ReadonlySet<string> {
  const found = new Set<string>()
  const follow = (from: string, entry: Dependencies): void => {
    for (const name of namesOf(entry)) {
      const path = placeOf(name, from, packages)
      if (path !== undefined) found.add(path)
    }
  }
  follow('', manifest)
  // The loop also reaches what it adds.
  for (const path of found) {
    const entry = packages[path]!
    if (entry.link === true && packages[entry.resolved ?? ''] !== undefined) found.add(entry.resolved!)
    else follow(path, entry)
  }
  return found
}

function namesOf({
  dependencies = {},
  optionalDependencies = {},
  peerDependencies = {},
  peerDependenciesMeta = {},
}: Dependencies): string[] {
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  return [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers]
}

/** Finds a package as Node does: in the folder itself, then in the folders above. */
export function placeOf(name: string, from: string, packages: Lock['packages']): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (Object.hasOwn(packages, path)) return path
    if (folder === '') return undefined
  }
}
