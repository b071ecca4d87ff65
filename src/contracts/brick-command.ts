import type { ParseArgsConfig } from 'node:util'
import type { Cradle } from './services.ts'

/** The command line of a brick's command. */
export interface BrickCommandInput {
  /** Option values, as `util.parseArgs` returns them. */
  readonly values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
  readonly positionals: readonly string[]
}

/** Result of a command. It contains no secret that was not asked for. */
export interface BrickCommandResult {
  /** Printed with `--json`. */
  readonly json: unknown
  /** Printed without it. */
  readonly text: string
}

/** A command of an operator that a brick contributes: `mortar <brick> <command>`. */
export interface BrickCommand {
  /** One line for the help. */
  readonly summary: string
  /** Arguments after the name: `USER [--session ID]`. */
  readonly usage: string
  /** Options in the form of `util.parseArgs`, each with its line of help. All commands have `--json`. */
  readonly options?: Readonly<
    Record<string, NonNullable<ParseArgsConfig['options']>[string] & { readonly help: string }>
  >
  /** Bricks that are started before the brick itself, if they are registered. No other brick starts. */
  readonly needs?: readonly string[]
  /** True if the files of routes are loaded before it runs: what they declare is part of the result. */
  readonly needsRoutes?: boolean
  /** Reports invalid arguments by a thrown `RangeError`, and any other fault by a `StartupError`. */
  run(input: BrickCommandInput, services: Cradle): Promise<BrickCommandResult>
}
