/**
 * Packages and code that add a brick, or one variant of it, to an application: `mortar.brick` in the package.json of the
 * brick.
 */
export interface BrickParts {
  /** Packages that the application depends on, besides that of the brick. */
  readonly peers?: readonly string[]
  /** Packages that only development and tests need. */
  readonly development?: readonly string[]
  /** Packages with an install script that has to run, also among the dependencies of the brick. */
  readonly scripts?: readonly string[]
  /** Exports by the entry that has them: `{ "@mortar/mail": "mail" }`. */
  readonly import?: Imports
  /** The item of the list `bricks`; without it the documentation has to be read. */
  readonly use?: string
  /** Bricks that this one requires. */
  readonly needs?: readonly string[]
  /** Folders of the application that it needs: `jobs`. */
  readonly folders?: readonly string[]
  /** The entry that exports its tables: `@mortar/jobs/schema`. */
  readonly tables?: string
  /** Steps that remain, in the order of their need. */
  readonly next?: readonly string[]
  /** Environment variables that it reads, for `.env.example`. */
  readonly env?: Readonly<Record<string, RecipeVariable>>
}

/** Names of exports by entry: one, or several of the same entry. */
export type Imports = Readonly<Record<string, string | readonly string[]>>

/** One environment variable of a brick. */
export interface RecipeVariable {
  readonly comment: string
  /** Value of `.env.example`; `{{name}}` becomes the name of the application. Empty by default. */
  readonly example?: string
  /** True for a variable that has a default. `.env.example` has it in a comment. */
  readonly optional?: boolean
}

/** A variant and its aliases: `pg` is also `postgres`. */
export interface BrickVariant extends BrickParts {
  readonly also?: readonly string[]
  /** Another brick of the same release, whose recipe the variant has. */
  readonly brick?: string
}

/** A brick with its variants, of which an option of `mortar add` chooses one. */
export interface BrickRecipe extends BrickParts {
  readonly option?: string
  readonly default?: string
  readonly variants?: Readonly<Record<string, BrickVariant>>
}

/** Merges the recipe of a brick with that of its variant. */
export function partsOf(recipe: BrickRecipe, variant?: string): BrickParts {
  const own = variant === undefined ? {} : (recipe.variants?.[variant] ?? {})
  const use = own.use ?? recipe.use
  const tables = own.tables ?? recipe.tables
  const both = (
    key: 'peers' | 'development' | 'scripts' | 'needs' | 'folders' | 'next',
  ): readonly string[] => [...(recipe[key] ?? []), ...(own[key] ?? [])]
  return {
    peers: both('peers'),
    development: both('development'),
    scripts: both('scripts'),
    import: mergeImports(own.import, recipe.import),
    needs: both('needs'),
    folders: both('folders'),
    next: both('next'),
    env: { ...recipe.env, ...own.env },
    ...(use !== undefined && { use }),
    ...(tables !== undefined && { tables }),
  }
}

/** The names of one entry as a list. */
export function namesOf(names: string | readonly string[]): readonly string[] {
  return typeof names === 'string' ? [names] : names
}

function mergeImports(one: Imports = {}, other: Imports = {}): Imports {
  const entries = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  const names = (entry: string): string[] =>
    [one, other].flatMap((imports) => (Object.hasOwn(imports, entry) ? namesOf(imports[entry]!) : []))
  return Object.fromEntries(entries.map((entry) => [entry, [...new Set(names(entry))].toSorted()]))
}

/** The variant that a name means: its own or one of its further names. */
export function variantNamed({ variants = {} }: BrickRecipe, name: string): string | undefined {
  return Object.keys(variants).find((known) => known === name || variants[known]!.also?.includes(name))
}
