import { isObject } from 'mortar/kit'
import type { PageAccess } from './dev-page/access.ts'
import type { MailOptions } from './options.ts'
import { wrongOption } from './wrong-option.ts'

/** A host name or IP address alone, as `Host` has it without its port. */
const HOST_NAME = /^(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?)$/i

/**
 * Reads the option `page` for an application outside production.
 * @param appUrl the application's own address; an open page accepts its host too.
 * @returns undefined if there is no page.
 * @throws StartupError for anything but a boolean or `{ hosts }`.
 */
export function readPage({ page }: MailOptions, appUrl: string | undefined): PageAccess | undefined {
  if (page === false) return undefined
  if (page === undefined) return { open: false, hosts: new Set() }
  const own = appUrl === undefined ? [] : [new URL(appUrl).hostname]
  if (page === true) return { open: true, hosts: new Set(own) }
  return { open: true, hosts: new Set([...own, ...hostsOf(page)].map((host) => host.toLowerCase())) }
}

function hostsOf(page: unknown): readonly string[] {
  const keys = isObject(page) ? Object.keys(page) : []
  if (keys.length !== 1 || keys[0] !== 'hosts')
    throw wrongOption('page', 'is not true, false or { hosts: [names] }')
  const { hosts } = page as { readonly hosts: unknown }
  const isNames =
    Array.isArray(hosts) && hosts.every((host) => typeof host === 'string' && HOST_NAME.test(host))
  if (isNames && hosts.length > 0) return hosts as string[]
  throw wrongOption(
    'page',
    "has `hosts` that is not a list of host names without scheme and port, such as 'dev.example.com'",
  )
}
