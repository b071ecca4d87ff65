import { readFileSync } from 'node:fs'
import { satisfies } from '../../peers/satisfies.ts'
import { type BrickParts, type BrickRecipe, partsOf, variantNamed } from '../brick-recipe.ts'
import { type CommandInput, textOf, UsageError } from '../command.ts'
import { findPackageJSON } from '../doctor/find-package.ts'
import type { FrameworkManifest } from '../framework-manifest.ts'
import type { Installation } from './package-manager.ts'
import type { RecipeSource } from './recipe-source.ts'

/** Changes that `mortar add` makes for one brick. */
export interface Addition {
  readonly name: string
  readonly parts: BrickParts
  /** At most two: packages of the application, and of its development. */
  readonly installations: readonly Installation[]
}

/**
 * Chooses the variant of a recipe, and finds the packages that are not installed yet or have another version.
 * @throws UsageError for an unknown variant, and for an option of another brick.
 */
export function planAddition(
  input: Pick<CommandInput, 'values'>,
  { name, recipe, ranges }: RecipeSource,
  { root, own }: { readonly root: string; readonly own: FrameworkManifest },
): Addition {
  const parts = partsOf(recipe, variantOf(input, name, recipe))
  const add = (names: readonly string[] = [], development: boolean): Installation => {
    const wanted = names.filter((each) => !isInstalled(each, root, ranges[each]))
    return {
      packages: wanted.map((each) => `${each}@${ranges[each] ?? 'latest'}`),
      development,
      // A recipe of somebody else allows no further install script.
      scripts: wanted.filter((each) => own.allowScripts[each] === true),
    }
  }
  return {
    name,
    parts,
    installations: [add(parts.peers, false), add(parts.development, true)].filter(
      ({ packages }) => packages.length > 0,
    ),
  }
}

function isInstalled(name: string, root: string, range: string | undefined): boolean {
  const file = findPackageJSON(name, root)
  if (file === undefined) return false
  const { version = '' } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version?: string }
  return range === undefined || satisfies(version, range)
}

/** Options that do not choose a variant. */
const COMMON: ReadonlySet<string> = new Set(['app'])

/** The chosen variant: of the brick's own option, else its default. */
function variantOf(
  input: Pick<CommandInput, 'values'>,
  name: string,
  recipe: BrickRecipe,
): string | undefined {
  for (const option of Object.keys(input.values))
    if (!COMMON.has(option) && textOf(input, option) !== undefined && recipe.option !== option)
      throw new UsageError(`${name} has no option --${option}.`)
  const given = recipe.option === undefined ? undefined : textOf(input, recipe.option)
  if (given === undefined) return recipe.default
  const variant = variantNamed(recipe, given)
  if (variant !== undefined) return variant
  const known = Object.keys(recipe.variants ?? {}).join(', ')
  throw new UsageError(`--${recipe.option} '${given}' is unknown. Choose one of ${known}.`)
}
