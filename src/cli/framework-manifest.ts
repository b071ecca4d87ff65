import { dirname, join } from 'node:path'
import { findManifest, type PeerManifest } from '../peers/find-manifest.ts'

/** The keys of the framework's own package.json that the command line reads. */
export interface FrameworkManifest {
  readonly version: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
}

/** Reads the package.json of the package that this file is part of, in the repository and in an installation. */
export function frameworkManifest(): FrameworkManifest {
  return findPackage()
}

/** The folder of the compiled files. In the repository `npm run build` makes it. */
export function builtFolder(): string {
  return join(findPackage().folder, 'dist')
}

/** The folder of the command line, of which its templates and programs are part: in the repository `src/cli`. */
export function commandLineFolder(): string {
  return join(isSource() ? findPackage().folder : builtFolder(), 'cli')
}

/** The reference application, whose files `mortar new` copies. */
export function referenceFolder(): string {
  return join(isSource() ? dirname(findPackage().folder) : builtFolder(), 'examples/notes')
}

/** False for a compiled module, whatever file the build joined it into. */
function isSource(): boolean {
  return import.meta.filename.endsWith('.ts')
}

function findPackage(): FrameworkManifest & PeerManifest {
  return findManifest(import.meta.filename, 'mortar') as FrameworkManifest & PeerManifest
}
