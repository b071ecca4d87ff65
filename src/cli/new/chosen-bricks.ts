import { type BrickParts, partsOf } from '../brick-recipe.ts'
import type { FrameworkManifest } from '../framework-manifest.ts'
import type { Choices } from './choices.ts'

/** The parts of one brick of a new application. */
export interface ChosenParts {
  readonly parts: BrickParts
  /** True where only the tests of the application use it. */
  readonly onlyTests: boolean
}

/** Returns the bricks of a new application, as `mortar.new` in package.json lists them for its choices. */
export function chosenBricks(
  { database, auth }: Pick<Choices, 'database' | 'auth'>,
  { mortar }: Pick<FrameworkManifest, 'mortar'>,
): ChosenParts[] {
  const chosen = [database, auth, 'always'].flatMap((choice) => mortar.new[choice] ?? [])
  return chosen.map(({ brick, variant, onlyTests = false }) => ({
    parts: partsOf(mortar.bricks[brick]!, variant),
    onlyTests,
  }))
}
