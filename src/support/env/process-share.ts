import { processVariables, type Variables } from './environment.ts'

/** Position of a process among the processes of one application on one machine. */
export interface ProcessShare {
  /** Number of processes that share the cores and the connections of the database: 1 without `--workers`. */
  readonly count: number
  /** Number of this process, from 1. A process that replaces another one has the same number. */
  readonly number: number
}

/** Largest number of workers that `mortar start --workers` accepts. */
export const MOST_WORKERS = 256

/** Variables that the primary process sets for its workers. `FRAMEWORK_PROCESSES` may also be set by hand. */
export const COUNT_VARIABLE = 'FRAMEWORK_PROCESSES'
export const NUMBER_VARIABLE = 'FRAMEWORK_WORKER'

/**
 * Returns how many processes of the application share this machine. `mortar start --workers` passes it to its workers.
 * For processes that something else starts, set `FRAMEWORK_PROCESSES` to their number; anything but a whole number from
 * 1 to 256 counts as 1.
 */
export function processShare(variables: Variables = processVariables()): ProcessShare {
  const count = wholeNumber(variables[COUNT_VARIABLE]) ?? 1
  return { count, number: wholeNumber(variables[NUMBER_VARIABLE]) ?? 1 }
}

/** True in a worker of `mortar start --workers`, whose primary process receives the signals of the terminal. */
export function isWorker(variables: Variables = processVariables()): boolean {
  return wholeNumber(variables[NUMBER_VARIABLE]) !== undefined
}

/** Reads a whole number from 1 to 256 in plain digits. */
export function wholeNumber(text: string | undefined): number | undefined {
  if (text === undefined || !/^[1-9]\d{0,2}$/.test(text)) return undefined
  const value = Number(text)
  return value <= MOST_WORKERS ? value : undefined
}
