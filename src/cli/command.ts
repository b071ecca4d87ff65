import type { ParseArgsConfig } from 'node:util'
import type { Terminal } from './terminal.ts'

/** Options of a command, as `util.parseArgs` takes them, each with its line for the help. */
export type CommandOptions = Readonly<
  Record<string, NonNullable<ParseArgsConfig['options']>[string] & { readonly help: string }>
>

/** The values of the options, and what stands beside them. */
export interface CommandInput {
  readonly values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
  readonly positionals: readonly string[]
  readonly terminal: Terminal
  /** The working directory. */
  readonly directory: string
}

/** One command of `mortar`. */
export interface Command {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** What follows `mortar`: `openapi [--check FILE]`. */
  readonly usage: string
  readonly options: CommandOptions
  /** True for one that goes on serving: the process ends when it does, and not after `run`. */
  readonly serves?: true
  /**
   * @returns the exit code: 0, or 1 when what it looked at is not as it should be.
   * @throws UsageError for arguments that it cannot take, StartupError for what is wrong with the application.
   */
  run(input: CommandInput): Promise<number>
}

/** Arguments that a command cannot take: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The text of an option, if it was given. */
export function textOf(input: Pick<CommandInput, 'values'>, name: string): string | undefined {
  const value = input.values[name]
  return typeof value === 'string' ? value : undefined
}
