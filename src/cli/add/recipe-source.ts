import { readFileSync } from 'node:fs'
import { StartupError } from '../../errors/startup-error.ts'
import { nearest } from '../../support/nearest.ts'
import type { BrickRecipe } from '../brick-recipe.ts'
import { UsageError } from '../command.ts'
import { findPackageJSON } from '../doctor/find-package.ts'
import { frameworkManifest } from '../framework-manifest.ts'
import { recipeBook, type KnownBrick } from '../recipe-book.ts'
import { findRecipeFault } from './check-recipe.ts'

/** A recipe with the version ranges of its packages. */
export interface RecipeSource extends KnownBrick {
  /** Name of the brick in messages. */
  readonly name: string
}

/** An npm package with a brick: `acme-bricks@^2.0.0#queue`. */
export interface PackageTarget {
  readonly name: string
  /** Argument for the package manager: the name, with a version if one was given. */
  readonly specifier: string
  /** The brick, for a package that has several. */
  readonly brick: string | undefined
}

interface PackageManifest {
  readonly peerDependencies?: Readonly<Record<string, string>>
  /** Checked by `findRecipeFault`. */
  readonly mortar?: { readonly brick?: BrickRecipe; readonly bricks?: Readonly<Record<string, BrickRecipe>> }
}

const TARGET = /^((?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*)(@[\w.^~*<>=|-]+)?(?:#([\w-]+))?$/

/**
 * Reads the argument of `mortar add`: the name of a brick of this release, or of an npm package.
 * @throws UsageError for anything else, and for a misspelt brick of this release.
 */
export function readTarget([given, ...rest]: readonly string[]): RecipeSource | PackageTarget {
  const { bricks } = recipeBook()
  const known = Object.keys(bricks)
  const list = `Known are ${known.join(', ')}, and any npm package with a brick.`
  if (given === undefined) throw new UsageError(`Give the name of a brick: npx mortar add mail. ${list}`)
  if (rest.length > 0) throw new UsageError('add takes one brick at a time.')
  const own = known.find((brick) => brick === given || bricks[brick]!.package === given)
  if (own !== undefined) return bookSource(own)
  const [, name, version = '', brick] = TARGET.exec(given) ?? []
  if (name === undefined) throw new UsageError(`'${given}' is not the name of a brick or package. ${list}`)
  const guess = version === '' && brick === undefined ? nearest(name, known) : undefined
  if (guess !== undefined)
    throw new UsageError(
      `Unknown brick '${name}'. Did you mean '${guess}'? For an npm package of this name write ${name}@latest.`,
    )
  return { name, specifier: `${name}${version}`, brick }
}

/** The recipe of a brick of this release. */
export function bookSource(brick: string): RecipeSource {
  const { recipe, ranges, package: name } = recipeBook().bricks[brick]!
  if (name === undefined) return { name: brick, recipe, ranges }
  return { name: brick, recipe, package: name, ranges: { ...ranges, [name]: frameworkManifest().version } }
}

/**
 * Reads the recipe of an installed package from `mortar.brick` or `mortar.bricks` of its package.json.
 * @throws StartupError `MORTAR_CLI_RECIPE` without a recipe. UsageError if one of several has to be chosen.
 */
export function readRecipe({ name, brick }: PackageTarget, root: string): RecipeSource {
  const file = findPackageJSON(name, root)
  if (file === undefined) throw noRecipe(name, `${name} is not installed.`)
  const { mortar = {}, peerDependencies } = JSON.parse(readFileSync(file, 'utf8')) as PackageManifest
  const recipe = mortar.brick ?? chooseRecipe(mortar.bricks ?? {}, { name, brick })
  if (recipe === undefined)
    throw noRecipe(name, `${name} has no recipe: its package.json has no "mortar": { "brick": … }.`)
  const fault = findRecipeFault(recipe)
  if (fault !== undefined) throw noRecipe(name, `The recipe of ${name} cannot be used: ${fault}.`)
  return { name, recipe, ranges: peerDependencies ?? {} }
}

/** Chooses one of several recipes by name; undefined without a match. */
function chooseRecipe(
  bricks: Readonly<Record<string, BrickRecipe>>,
  { name, brick }: Pick<PackageTarget, 'name' | 'brick'>,
): BrickRecipe | undefined {
  const names = Object.keys(bricks)
  if (names.length === 0) return undefined
  if (brick === undefined && names.length > 1) {
    const choices = names.map((each) => `${name}#${each}`).join(', ')
    throw new UsageError(`${name} has several bricks. Choose one: ${choices}.`)
  }
  const chosen = brick ?? names[0]!
  if (!Object.hasOwn(bricks, chosen))
    throw new UsageError(`${name} has no brick '${chosen}'. It has ${names.join(', ')}.`)
  return bricks[chosen]
}

function noRecipe(name: string, found: string): StartupError {
  return new StartupError(found, {
    code: 'MORTAR_CLI_RECIPE',
    remedy: `Add the brick to config/bricks.ts as the README of ${name} says.`,
  })
}
