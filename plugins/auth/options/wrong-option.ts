import { StartupError } from 'mortar'

/** Makes the error for an option of a feature or of the option `features`; `found` continues "The option". */
export function wrongOption(found: string, remedy: string): StartupError {
  return new StartupError(`The option ${found}.`, { code: 'MORTAR_AUTH_OPTION', remedy, brick: 'auth' })
}
