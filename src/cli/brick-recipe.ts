/** What a brick, or one variant of it, takes to be part of an application: an entry of `mortar.bricks` in package.json. */
export interface BrickParts {
  /** Packages that the application depends on. */
  readonly peers?: readonly string[]
  /** Packages that only development and tests need. */
  readonly development?: readonly string[]
  /** Exports by the entry that has them: `{ "mortar/mail": "mail" }`. */
  readonly import?: Readonly<Record<string, string>>
  /** The item of the list `bricks`; without it the documentation has to be read. */
  readonly use?: string
  /** Bricks that have to be there too. */
  readonly needs?: readonly string[]
}

/** A variant, which has further names: `pg` is also `postgres`. */
export interface BrickVariant extends BrickParts {
  readonly also?: readonly string[]
}

/** A brick with its variants, of which an option of `mortar add` chooses one. */
export interface BrickRecipe extends BrickParts {
  readonly option?: string
  readonly default?: string
  readonly variants?: Readonly<Record<string, BrickVariant>>
}

/** The parts of a brick and of its variant together. */
export function partsOf(recipe: BrickRecipe, variant?: string): BrickParts {
  const own = variant === undefined ? {} : (recipe.variants?.[variant] ?? {})
  const use = own.use ?? recipe.use
  return {
    peers: [...(recipe.peers ?? []), ...(own.peers ?? [])],
    development: [...(recipe.development ?? []), ...(own.development ?? [])],
    import: { ...own.import, ...recipe.import },
    needs: [...(recipe.needs ?? []), ...(own.needs ?? [])],
    ...(use !== undefined && { use }),
  }
}

/** The variant that a name means: its own or one of its further names. */
export function variantNamed({ variants = {} }: BrickRecipe, name: string): string | undefined {
  return Object.keys(variants).find((known) => known === name || variants[known]!.also?.includes(name))
}
