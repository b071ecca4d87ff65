/** Entry `@mortar/auth/account`: users delete their accounts, and export their stored data. */
import type { BrickServices, Duration } from 'mortar'
import { checkOptions } from 'mortar/kit'
import { lifetime } from '../../options/options.ts'
import type { AuthFeature } from '../feature.ts'
import { createAccountEnd } from './account-end.ts'
import { createExport } from './export-account.ts'
import { PAGE_PATH } from './page.ts'
import { accountRoutes } from './routes.ts'
import { DELETIONS } from './table.ts'

/** Options of `account`. */
export interface AccountOptions {
  /** Time in which the owner can take a deleted account back: 1 hour to 1 year. Seconds or a duration; 14 days by default. */
  readonly grace?: Duration
  /** Returns the data of the application about a user, as JSON, for the export. */
  readonly exportData?: (userId: string, services: BrickServices) => object | PromiseLike<object>
  /**
   * Deletes the data of the application about a user, before the account is deleted. It may run several times, also in two
   * processes; while it fails the account stays disabled, and is deleted later.
   */
  readonly eraseData?: (userId: string, services: BrickServices) => unknown
}

const [HOUR, YEAR] = [3600, 365 * 86_400]

/**
 * Users delete their accounts, with a time in which they can take them back, and export their stored data. It needs
 * `recent()`, because both need a recent proof.
 * @throws StartupError `MORTAR_AUTH_OPTION` for an invalid option.
 */
export function account(options: AccountOptions = {}): AuthFeature {
  checkOptions(options, {
    of: 'account()',
    brick: 'auth',
    keys: { grace: ['number', 'string'], exportData: 'function', eraseData: 'function' },
  })
  const grace = lifetime('grace', options.grace ?? '14d', HOUR, YEAR)
  const { exportData, eraseData } = options
  return {
    name: 'account',
    requires: ['recent'],
    tables: [DELETIONS],
    routes: accountRoutes(),
    connect(kit) {
      const end = createAccountEnd(kit, {
        grace,
        page: kit.linkTo(PAGE_PATH),
        erasesData: eraseData !== undefined,
      })
      const dataOf = exportData && ((userId: string) => exportData(userId, kit.services))
      return {
        api: { ...end, export: createExport(kit, dataOf) },
        reopen: end.reopen,
        ...(eraseData && { deleting: ({ id }) => eraseData(id, kit.services) }),
        tidy: end.eraseDue,
      }
    },
  }
}
