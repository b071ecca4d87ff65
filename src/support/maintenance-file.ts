import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAddressRange } from './address-range.ts'

/** The maintenance mode of the processes of one machine, as `mortar maintenance on` writes it. */
export interface MaintenanceState {
  /** When it began, as an ISO date. Unknown in a file that was written by hand. */
  readonly since?: string
  /** Seconds of the header `Retry-After`. */
  readonly retryAfter: number
  /** Addresses and CIDRs of clients that are served. */
  readonly allow: readonly string[]
}

const DEFAULT_RETRY_AFTER = 60

/** Returns the path of the file in the state folder. The mode is on while the file exists. */
export function maintenanceFile(folder: string): string {
  return join(folder, 'maintenance.json')
}

/** Returns the content of the file, or undefined without a file. @throws the error of a file that cannot be read. */
export function readMaintenanceFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Reads the content of the file. A part that cannot be read has its default, and nobody is allowed by mistake. */
export function parseMaintenance(text: string): MaintenanceState {
  const { since, retryAfter, allow } = objectIn(text)
  return {
    ...(typeof since === 'string' && { since }),
    retryAfter:
      typeof retryAfter === 'number' && Number.isFinite(retryAfter) && retryAfter > 0
        ? retryAfter
        : DEFAULT_RETRY_AFTER,
    allow: Array.isArray(allow) ? allow.filter(isRange) : [],
  }
}

function objectIn(text: string): Partial<Record<keyof MaintenanceState, unknown>> {
  try {
    return { ...(JSON.parse(text) as object) }
  } catch {
    return {}
  }
}

function isRange(text: unknown): text is string {
  return typeof text === 'string' && parseAddressRange(text) !== undefined
}
