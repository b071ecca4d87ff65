import { pathToFileURL } from 'node:url'

/** Result of a resolution, as Node's hooks pass it. */
export interface Resolved {
  readonly url: string
}

/** A resolution hook: synchronous in the thread of the application, asynchronous in one of its own. */
export interface Resolver {
  resolve<T extends Resolved | Promise<Resolved>>(
    specifier: string,
    context: { readonly parentURL?: string },
    next: (specifier: string, context: object) => T,
  ): T
  renew(modules: readonly string[], version: number): void
}

/** Creates the hook that reports each import and adds the version to the URLs of renewed modules. */
export function createResolver(report: (importer: string | undefined, url: string) => void): Resolver {
  const versions = new Map<string, number>()

  function finish(resolved: Resolved, importer: string | undefined): Resolved {
    if (!resolved.url.startsWith('file:')) return resolved
    report(importer, resolved.url)
    const version = versions.get(resolved.url)
    return version === undefined ? resolved : { ...resolved, url: `${resolved.url}?reload=${version}` }
  }

  return {
    resolve<T extends Resolved | Promise<Resolved>>(
      specifier: string,
      context: { readonly parentURL?: string },
      next: (specifier: string, context: object) => T,
    ): T {
      const resolved: Resolved | Promise<Resolved> = next(specifier, context)
      const result =
        resolved instanceof Promise
          ? resolved.then((each) => finish(each, context.parentURL))
          : finish(resolved, context.parentURL)
      return result as T
    },
    renew(modules, version) {
      for (const module of modules) versions.set(pathToFileURL(module).href, version)
    },
  }
}
