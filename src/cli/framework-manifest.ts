import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BrickRecipe } from './brick-recipe.ts'

/** The keys of the framework's own package.json that the command line reads. */
export interface FrameworkManifest {
  readonly version: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  /** The exact versions that the framework is tested with. */
  readonly devDependencies: Readonly<Record<string, string>>
  /** The ranges of what an application may add. */
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly allowScripts: Readonly<Record<string, boolean>>
  readonly mortar: { readonly bricks: Readonly<Record<string, BrickRecipe>> }
}

/** Reads the package.json of the package that this file is part of, in the repository and in an installation. */
export function frameworkManifest(): FrameworkManifest {
  for (let folder = import.meta.dirname; ; folder = dirname(folder))
    try {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as FrameworkManifest & {
        readonly name: string
      }
      if (manifest.name === 'mortar') return manifest
    } catch (error) {
      if (dirname(folder) === folder) throw error
    }
}
