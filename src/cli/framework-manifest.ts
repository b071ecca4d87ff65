import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The keys of the framework's own package.json that the command line reads. */
export interface FrameworkManifest {
  readonly version: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
}

/** Reads the package.json of the package that this file is part of, in the repository and in an installation. */
export function frameworkManifest(): FrameworkManifest {
  return findPackage().manifest
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

function findPackage(): { readonly folder: string; readonly manifest: FrameworkManifest } {
  for (let folder = import.meta.dirname; ; folder = dirname(folder))
    try {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as FrameworkManifest & {
        readonly name: string
      }
      if (manifest.name === 'mortar') return { folder, manifest }
    } catch (error) {
      if (dirname(folder) === folder) throw error
    }
}
