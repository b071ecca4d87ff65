import type { BrickCommand, BrickCommandInput } from '../contracts/brick-command.ts'
import { milliseconds } from '../support/duration.ts'
import type { Terminal } from './terminal.ts'

/** Options of a command in the form of `util.parseArgs`, each with its line of help. */
export type CommandOptions = NonNullable<BrickCommand['options']>

/** Parsed command line: option values and positional arguments. */
export interface CommandInput extends BrickCommandInput {
  readonly terminal: Terminal
  /** The working directory. */
  readonly directory: string
}

/** One command of `mortar`. */
export interface Command {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** Usage without the word `mortar`: `routes [--json]`. */
  readonly usage: string
  readonly options: CommandOptions
  /** True for a command that accepts positional arguments; any other refuses them. */
  readonly names?: true
  /** True for a command that keeps serving: the process does not exit after `run`. */
  readonly serves?: true
  /**
   * @returns the exit code: 0, or 1 if a check found a problem; `migrate` documents another one.
   * @throws UsageError for invalid arguments, StartupError for a fault in the application.
   */
  run(input: CommandInput): Promise<number>
}

/** Invalid arguments of a command: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Returns the value of a string option, or undefined. */
export function textOf(input: Pick<CommandInput, 'values'>, name: string): string | undefined {
  const value = input.values[name]
  return typeof value === 'string' ? value : undefined
}

/** Longest time in an option. */
const LONGEST_TIME = 24 * 3600

/** Reads the time of an option, in seconds. @throws UsageError for zero, for less than `least`, and for more than a day. */
export function readTime(option: string, given: string, least = 0): number {
  const time = milliseconds(given) / 1000
  if (time > 0 && time >= least && time <= LONGEST_TIME) return time
  const from = least > 0 ? ` from ${least}s` : ''
  throw new UsageError(`--${option} is '${given}'. Write a time${from} up to 24h, such as 90s or 5m.`)
}

/** Reads the option `port`. @throws UsageError */
export function readPort(input: Pick<CommandInput, 'values'>): number | undefined {
  const port = textOf(input, 'port')
  if (port === undefined) return undefined
  if (/^\d+$/.test(port) && Number(port) <= 65_535) return Number(port)
  throw new UsageError(`--port ${port} is not a port, an integer from 0 to 65535.`)
}
