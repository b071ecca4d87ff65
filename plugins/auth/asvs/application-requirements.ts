import type { AsvsLevel } from './configuration.ts'

/** Requirements that only the application can meet. */
export interface ApplicationRequirement {
  readonly ids: readonly string[]
  readonly level: AsvsLevel
  /** Task of the application, as a phrase. */
  readonly need: string
}

/** Requirements of `docs/asvs.md` for the application itself, with e-mail and password, at levels 1 and 2. */
export const APPLICATION_REQUIREMENTS: readonly ApplicationRequirement[] = [
  { ids: ['6.2.6', '6.2.7'], level: 1, need: 'pages that mask passwords and allow password managers' },
  { ids: ['7.4.4'], level: 2, need: 'a visible logout' },
]
