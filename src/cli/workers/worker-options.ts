import { availableParallelism } from 'node:os'
import { StartupError } from '../../errors/startup-error.ts'
import { MOST_WORKERS, wholeNumber } from '../../support/env/process-share.ts'
import type { Variables } from '../../support/env/environment.ts'
import { bytes, isSize } from '../../support/bytes.ts'
import { readTime, UsageError } from '../command.ts'

/** Least seconds of `--stuck-after`: workers are asked once a second. */
export const LEAST_STUCK = 2

const EXPECTED = `a whole number from 1 to ${MOST_WORKERS}, or auto for one worker per core`

/**
 * Reads the number of workers from the option `--workers`, else from the variable `WORKERS`.
 * @returns undefined if neither is set: the application then runs in this process.
 * @throws UsageError for a wrong option, StartupError `MORTAR_ENV` for a wrong variable.
 */
export function readWorkerCount(option: string | undefined, variables: Variables): number | undefined {
  const text = variables['WORKERS']
  const count =
    option === undefined ? text && (parse(text) ?? refuseVariable()) : (parse(option) ?? refuseOption(option))
  if (typeof count !== 'number') return undefined
  refuseOtherRuntimes()
  return count
}

/** Reads a time limit of `mortar start`. @returns seconds; undefined for `off`. @throws UsageError */
export function readTimeOrOff(option: string, given: string, least?: number): number | undefined {
  return given === 'off' ? undefined : readTime(option, given, least)
}

/** Reads the option `--max-memory`. @returns bytes; undefined for no limit. @throws UsageError */
export function readMaxMemory(option: string | undefined): number | undefined {
  if (option === undefined) return undefined
  if (/[a-z]$/i.test(option) && isSize(option) && bytes(option) > 0) return bytes(option)
  throw new UsageError(`--max-memory is '${option}', not a size such as '512mb'.\nSee: npx mortar help start`)
}

function parse(text: string): number | undefined {
  return text === 'auto' ? Math.min(availableParallelism(), MOST_WORKERS) : wholeNumber(text)
}

/** Other runtimes implement only a part of node:cluster. */
function refuseOtherRuntimes(versions: NodeJS.ProcessVersions = process.versions): void {
  const other = 'bun' in versions ? 'Bun' : 'deno' in versions ? 'Deno' : undefined
  if (other !== undefined)
    throw new UsageError(
      `${other} cannot run several workers. Start one process per core behind a proxy, each with its own PORT.`,
    )
}

function refuseOption(text: string): never {
  throw new UsageError(`--workers is '${text}', not ${EXPECTED}.\nSee: npx mortar help start`)
}

function refuseVariable(): never {
  throw new StartupError(`The environment variable WORKERS is not ${EXPECTED}.`, {
    code: 'MORTAR_ENV',
    remedy: 'Set it in the environment or in .env, such as WORKERS=auto, or remove it.',
  })
}
