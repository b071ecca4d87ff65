import type { SecurityScheme } from '../contracts/authenticator.ts'
import type { Route } from '../routing/route.ts'

/** Stands in where the document is made without an authenticator, so that a guarded route never looks public. */
export const BEARER: SecurityScheme = { name: 'bearer', scheme: { type: 'http', scheme: 'bearer' } }

/** True unless everybody may call the route; a guard of unknown shape counts as one. */
export function isGuarded(route: Route): boolean {
  const { auth } = route.definition
  return auth !== undefined && auth !== false
}

/** The policies that must hold for a call of the route, in the order in which the guard asks them. */
export function policiesOf(route: Route): readonly string[] {
  const { auth } = route.definition
  if (typeof auth === 'string') return [auth]
  return Array.isArray(auth) ? auth : []
}

/** The sentence on the policies in the route's description; undefined when there are none. */
export function policySentence(policies: readonly string[]): string | undefined {
  if (policies.length === 0) return undefined
  const names = policies.map((name) => `\`${name}\``)
  if (names.length === 1) return `Requires the policy ${names[0]}.`
  return `Requires the policies ${names.slice(0, -1).join(', ')} and ${names.at(-1)}.`
}
