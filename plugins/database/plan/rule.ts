import type { Facts } from './facts.ts'
import type { Operation } from './parse-statement.ts'

/** A kind of change that stops an application or breaks code that runs. */
export interface LockRule {
  readonly kind: string
  readonly on: RegExp
  /** Excludes a form of the whole statement. */
  readonly not?: RegExp
  /** Tables that it concerns: also new ones, any that exists, those with rows, or those with many rows. */
  readonly tables: 'every' | 'any' | 'filled' | 'large'
  /** Asks for what the statement does not say. */
  readonly when?: (operation: Operation, facts: Facts) => boolean | Promise<boolean>
  readonly lock: string
  readonly instead: string
}

/** `ADD` of a column, to which a pattern adds what follows. */
export const COLUMN =
  '^ADD (?:COLUMN )?(?:IF NOT EXISTS )?(?!(?:CONSTRAINT|INDEX|KEY|UNIQUE|PRIMARY|FOREIGN|CHECK|FULLTEXT|SPATIAL|EXCLUDE|PARTITION|PERIOD|SYSTEM)\\b)NAME .*'
/** `ADD` of a constraint. */
export const CONSTRAINT = '^ADD (?:CONSTRAINT NAME )?'

/** The way to change or rename a column without a lock. */
export const NEW_COLUMN =
  'Add another column, let the code write both, fill it with inBatches(), and drop the old one when no code uses it.'
