import type { PageAccess } from './dev-page/access.ts'
import type { MailOptions } from './options.ts'
import { wrongOption } from './wrong-option.ts'

/** A host name or IP address alone, as `Host` has it without its port. */
const HOST_NAME = /^(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?)$/i

/**
 * Reads the option `page` for an application outside production.
 * @param appUrl the application's own address; an open page accepts its host too.
 * @returns undefined if there is no page.
 * @throws StartupError for a host that is not a name.
 */
export function readPage({ page }: MailOptions, appUrl: string | undefined): PageAccess | undefined {
  if (page === false) return undefined
  if (page === undefined) return { open: false, hosts: new Set() }
  const own = appUrl === undefined ? [] : [new URL(appUrl).hostname]
  if (page === true) return { open: true, hosts: new Set(own) }
  const { hosts } = page
  if (hosts.length === 0 || !hosts.every((host) => HOST_NAME.test(host)))
    throw wrongOption(
      'page',
      "has `hosts` that is not a list of host names without scheme and port, such as 'dev.example.com'",
    )
  return { open: true, hosts: new Set([...own, ...hosts].map((host) => host.toLowerCase())) }
}
