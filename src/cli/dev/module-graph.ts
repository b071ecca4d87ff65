/** Imports between the modules of a project, which are absolute paths. */
export interface ModuleGraph {
  /** @param importer undefined for a module outside the project, such as a package or Node's entry point. */
  add(importer: string | undefined, module: string): void
  has(module: string): boolean
  /**
   * Returns the changed modules and all that import them, directly or not. Returns undefined if one of them is imported
   * from outside the project: that import would keep the old version. Route files are exempt, because the framework
   * imports them and can replace them.
   */
  importersOf(
    changed: readonly string[],
    isRoute: (module: string) => boolean,
  ): ReadonlySet<string> | undefined
}

export function createModuleGraph(): ModuleGraph {
  const importers = new Map<string, Set<string | undefined>>()
  return {
    add(importer, module) {
      const known = importers.get(module)
      if (known === undefined) importers.set(module, new Set([importer]))
      else known.add(importer)
    },
    has: (module) => importers.has(module),
    importersOf(changed, isRoute) {
      const found = new Set(changed)
      // The loop also reaches what it adds.
      for (const module of found)
        for (const importer of importers.get(module) ?? []) {
          if (importer !== undefined) found.add(importer)
          else if (!isRoute(module)) return undefined
        }
      return found
    },
  }
}
