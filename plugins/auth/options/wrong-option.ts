import type { StartupError } from 'mortar'
import { fault } from '../startup-codes.ts'

/** Makes the error for an option of a feature or of the option `features`; `found` continues "The option". */
export function wrongOption(found: string, remedy: string): StartupError {
  return fault('MORTAR_AUTH_OPTION', `The option ${found}.`, { remedy })
}
