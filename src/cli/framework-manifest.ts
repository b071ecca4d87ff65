import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BrickRecipe } from './brick-recipe.ts'

/** The keys of the framework's own package.json that the command line reads. */
export interface FrameworkManifest {
  readonly version: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  /** Exact versions that the framework is tested with. */
  readonly devDependencies: Readonly<Record<string, string>>
  /** Version ranges of the optional packages of an application. */
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly allowScripts: Readonly<Record<string, boolean>>
  readonly mortar: {
    readonly bricks: Readonly<Record<string, BrickRecipe>>
    /** The bricks of a new application, by the values of the options of `mortar new`; `always` has those of each. */
    readonly new: Readonly<Record<string, readonly ChosenBrick[]>>
  }
}

/** A brick of a new application. */
export interface ChosenBrick {
  readonly brick: string
  readonly variant?: string
  /** True where only the tests of the application use it. */
  readonly onlyTests?: boolean
}

/** Reads the package.json of the package that this file is part of, in the repository and in an installation. */
export function frameworkManifest(): FrameworkManifest {
  return findPackage().manifest
}

/**
 * The folder of the command line, of which its templates and programs are part: in the repository `src/cli`, else
 * `dist/src/cli`, whatever file the build joined this module into.
 */
export function commandLineFolder(): string {
  const isSource = import.meta.filename.endsWith('.ts')
  return join(findPackage().folder, isSource ? 'src/cli' : 'dist/src/cli')
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
