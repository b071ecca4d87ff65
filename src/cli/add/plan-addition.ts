import { readFileSync } from 'node:fs'
import { satisfies } from '../../peers/satisfies.ts'
import { type BrickParts, partsOf, variantNamed } from '../brick-recipe.ts'
import { type CommandInput, textOf, UsageError } from '../command.ts'
import { findPackageJSON } from '../doctor/find-package.ts'
import { frameworkManifest } from '../framework-manifest.ts'
import type { Project } from '../project/project.ts'
import type { Installation } from '../../peers/package-manager.ts'
import { bookSource, type RecipeSource } from './recipe-source.ts'
import { tarballBeside } from './tarball.ts'

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
  source: RecipeSource,
  project: Pick<Project, 'root' | 'manifest'>,
): Addition {
  const chosen = variantOf(input, source)
  const { name, recipe, ranges, package: own } = chosen.source
  const parts = partsOf(recipe, chosen.variant)
  const placeOf = (each: string): string | undefined =>
    each.startsWith('@mortar/') ? tarballBeside(project, each, frameworkManifest().version) : undefined
  const add = (names: readonly string[] = [], development: boolean): Installation => {
    const wanted = names.filter((each) => !isInstalled(each, project, ranges[each]))
    return {
      packages: wanted.map((each) => `${each}@${placeOf(each) ?? ranges[each] ?? 'latest'}`),
      development,
      scripts: wanted.length > 0 ? (parts.scripts ?? []) : [],
    }
  }
  return {
    name,
    parts,
    installations: [
      add([...(own === undefined ? [] : [own]), ...(parts.peers ?? [])], false),
      add(parts.development, true),
    ].filter(({ packages }) => packages.length > 0),
  }
}

/** False, too, for a package that only another one installs: a clean installation may leave it out. */
export function isInstalled(
  name: string,
  { root, manifest }: Pick<Project, 'root' | 'manifest'>,
  range?: string,
): boolean {
  const kinds = manifest as Readonly<Record<string, object | undefined>>
  const listed = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
  const file = findPackageJSON(name, root)
  if (file === undefined || !listed.some((kind) => Object.hasOwn(kinds[kind] ?? {}, name))) return false
  const { version = '' } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version?: string }
  return range === undefined || satisfies(version, range)
}

function refuseOptions(input: Pick<CommandInput, 'values'>, { name, recipe }: RecipeSource): void {
  for (const option of Object.keys(input.values))
    if (option !== 'app' && textOf(input, option) !== undefined && recipe.option !== option)
      throw new UsageError(`${name} has no option --${option}.`)
}

/** The chosen variant: of the brick's own option, else its default. It may be another brick. */
function variantOf(
  input: Pick<CommandInput, 'values'>,
  source: RecipeSource,
): { readonly source: RecipeSource; readonly variant?: string } {
  const { recipe } = source
  refuseOptions(input, source)
  const given = recipe.option === undefined ? undefined : textOf(input, recipe.option)
  const variant = given === undefined ? recipe.default : variantNamed(recipe, given)
  if (variant !== undefined) {
    const { brick } = recipe.variants?.[variant] ?? {}
    return brick === undefined ? { source, variant } : { source: bookSource(brick) }
  }
  if (given === undefined) return { source }
  const known = Object.keys(recipe.variants ?? {}).join(', ')
  throw new UsageError(`--${recipe.option} '${given}' is unknown. Choose one of ${known}.`)
}
