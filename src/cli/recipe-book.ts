import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrickRecipe } from './brick-recipe.ts'
import { builtFolder } from './framework-manifest.ts'

/** Recipes and versions of the packages of the same release, for `mortar new` and `mortar add`. The build writes it. */
export interface RecipeBook {
  readonly bricks: Readonly<Record<string, KnownBrick>>
  /** Exact versions that the framework is tested with, by package. */
  readonly versions: Readonly<Record<string, string>>
  /** The bricks of a new application, by the values of the options of `mortar new`; `always` has those of each. */
  readonly new: Readonly<Record<string, readonly ChosenBrick[]>>
}

/** The recipe of a brick of this release. */
export interface KnownBrick {
  /** The package of the brick, which has the version of the framework; without one it is in the framework. */
  readonly package?: string
  readonly recipe: BrickRecipe
  /** Versions of the packages that the recipe names. */
  readonly ranges: Readonly<Record<string, string>>
}

/** A brick of a new application. */
export interface ChosenBrick {
  readonly brick: string
  readonly variant?: string
  /** True where only the tests of the application use it. */
  readonly onlyTests?: boolean
}

export function recipeBook(): RecipeBook {
  return JSON.parse(readFileSync(join(builtFolder(), 'cli/recipes.json'), 'utf8')) as RecipeBook
}
