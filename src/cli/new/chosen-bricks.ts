import { type BrickParts, partsOf } from '../brick-recipe.ts'
import type { RecipeBook } from '../recipe-book.ts'

/** The parts of one brick of a new application. */
export interface ChosenParts {
  /** The package of the brick; undefined for a part of the framework. */
  readonly package: string | undefined
  readonly parts: BrickParts
  /** True where only the tests of the application use it. */
  readonly onlyTests: boolean
}

/** Returns the bricks of a new application, as the recipe book lists them for its choices. */
export function chosenBricks(
  { database, auth }: Readonly<Record<'database' | 'auth', string>>,
  book: RecipeBook,
): ChosenParts[] {
  const chosen = [database, auth, 'always'].flatMap((choice) => book.new[choice] ?? [])
  return chosen.map(({ brick, variant, onlyTests = false }) => ({
    package: book.bricks[brick]!.package,
    parts: partsOf(book.bricks[brick]!.recipe, variant),
    onlyTests,
  }))
}
