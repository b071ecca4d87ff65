import { readFileSync } from 'node:fs'
import { nearest } from '../../support/nearest.ts'
import { satisfies } from '../../peers/satisfies.ts'
import { type BrickParts, type BrickRecipe, partsOf, variantNamed } from '../brick-recipe.ts'
import { type CommandInput, textOf, UsageError } from '../command.ts'
import { findPackageJSON } from '../doctor/find-package.ts'
import type { FrameworkManifest } from '../framework-manifest.ts'
import type { Installation } from './package-manager.ts'

/** What `mortar add` does for one brick. */
export interface Addition {
  readonly name: string
  readonly parts: BrickParts
  /** At most two: packages of the application, and of its development. */
  readonly installations: readonly Installation[]
}

/**
 * Reads the arguments of `mortar add`, and finds the packages that are not installed yet or have another version.
 * @throws UsageError for an unknown brick or variant, and for an option of another brick.
 */
export function planAddition(
  input: Pick<CommandInput, 'values' | 'positionals'>,
  root: string,
  own: FrameworkManifest,
): Addition {
  const { bricks } = own.mortar
  const [name, ...rest] = input.positionals
  const recipe = name === undefined ? undefined : bricks[name]
  if (name === undefined || recipe === undefined || rest.length > 0) throw unknownBrick(name, rest, bricks)
  const parts = partsOf(recipe, variantOf(input, name, recipe))
  const wanted = (names: readonly string[] = []): string[] =>
    names.filter((each) => !isInstalled(each, root, own.peerDependencies[each]))
  return {
    name,
    parts,
    installations: [
      installationOf(wanted(parts.peers), false, own),
      installationOf(wanted(parts.development), true, own),
    ].filter(({ packages }) => packages.length > 0),
  }
}

function installationOf(
  names: readonly string[],
  development: boolean,
  own: FrameworkManifest,
): Installation {
  return {
    packages: names.map((name) => `${name}@${own.peerDependencies[name] ?? 'latest'}`),
    development,
    scripts: names.filter((name) => own.allowScripts[name] === true),
  }
}

function isInstalled(name: string, root: string, range: string | undefined): boolean {
  const file = findPackageJSON(name, root)
  if (file === undefined) return false
  const { version = '' } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version?: string }
  return range === undefined || satisfies(version, range)
}

/** The chosen variant: of the brick's own option, else its default. */
function variantOf(
  input: Pick<CommandInput, 'values'>,
  name: string,
  recipe: BrickRecipe,
): string | undefined {
  for (const option of ['driver', 'provider'])
    if (textOf(input, option) !== undefined && recipe.option !== option)
      throw new UsageError(`${name} has no option --${option}.`)
  const given = recipe.option === undefined ? undefined : textOf(input, recipe.option)
  if (given === undefined) return recipe.default
  const variant = variantNamed(recipe, given)
  if (variant !== undefined) return variant
  const known = Object.keys(recipe.variants ?? {}).join(', ')
  throw new UsageError(`--${recipe.option} '${given}' is unknown. Choose one of ${known}.`)
}

function unknownBrick(
  name: string | undefined,
  rest: readonly string[],
  bricks: Readonly<Record<string, BrickRecipe>>,
): UsageError {
  const known = Object.keys(bricks)
  const list = `Known are ${known.join(', ')}.`
  if (name === undefined) return new UsageError(`Give the name of a brick: mortar add mail. ${list}`)
  if (rest.length > 0) return new UsageError('add takes one brick at a time.')
  const guess = nearest(name, known)
  return new UsageError(`Unknown brick '${name}'. ${guess === undefined ? list : `Did you mean '${guess}'?`}`)
}
