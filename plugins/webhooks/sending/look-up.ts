import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'

/** Finds all addresses of a name. Rejects for a name without an address. */
export type LookUp = (name: string) => Promise<readonly LookupAddress[]>

/**
 * Returns a look-up by DNS alone. That of the system occupies one of the few threads of Node until slow name servers
 * respond, so a customer's domain could delay password hashes and files. Names of `/etc/hosts` are not found.
 * @param servers name servers in place of those of the system, such as `127.0.0.1:53`.
 */
export function createLookUp(servers?: readonly string[]): LookUp {
  const resolver = new Resolver({ timeout: 2000, tries: 3 })
  if (servers !== undefined) resolver.setServers(servers)
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const found = answers.flatMap((answer, index) =>
      answer.status === 'fulfilled'
        ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 }))
        : [],
    )
    if (found.length === 0) throw (answers[0] as PromiseRejectedResult).reason
    return found
  }
}
