import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { StartupError } from '../../errors/startup-error.ts'

/** File name of the tarball of a package, as `npm pack` writes it. */
export function tarballName(name: string, version: string): string {
  return `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`
}

/**
 * Returns the address of the tarball of a package, for an application whose framework is installed from one
 * (`file:../packages/mortar-0.1.0.tgz`): its packages may not be published. Undefined for any other application.
 * @throws StartupError `MORTAR_CLI_INSTALL` if there is no tarball of the package beside that of the framework.
 */
export function tarballBeside(
  { root, manifest }: { readonly root: string; readonly manifest: Readonly<Record<string, unknown>> },
  name: string,
  version: string,
): string | undefined {
  const { mortar } = (manifest['dependencies'] ?? {}) as { readonly mortar?: unknown }
  const [, folder] = /^file:(.*)\/[^/]+\.tgz$/.exec(String(mortar)) ?? []
  if (folder === undefined) return undefined
  const file = tarballName(name, version)
  if (existsSync(resolve(root, folder, file))) return `file:${folder}/${file}`
  throw new StartupError(`The framework is installed from ${folder}, which has no ${file}.`, {
    code: 'MORTAR_CLI_INSTALL',
    remedy: `Pack ${name} into that folder, or install another ${name} yourself. Then repeat the command.`,
  })
}
