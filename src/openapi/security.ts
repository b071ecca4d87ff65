import type { SecurityScheme } from '../contracts/authenticator.ts'
import type { Route } from '../routing/route.ts'
import { listWords } from '../support/list-words.ts'

/** Default scheme of a document without an authenticator, so that a guarded route never looks public. */
export const BEARER: SecurityScheme = { name: 'bearer', scheme: { type: 'http', scheme: 'bearer' } }

/** False for a public route only. A guard of unknown shape counts as a guard. */
export function isGuarded(route: Route): boolean {
  const { auth } = route.definition
  return auth !== undefined && auth !== false
}

/** Returns the policies of a route, in the order of their evaluation. */
export function policiesOf(route: Route): readonly string[] {
  const { auth } = route.definition
  if (typeof auth === 'string') return [auth]
  return Array.isArray(auth) ? auth : []
}

/** Returns the sentence about policies for the route's description, or undefined without policies. */
export function policySentence(policies: readonly string[]): string | undefined {
  if (policies.length === 0) return undefined
  const names = policies.map((name) => `\`${name}\``)
  if (names.length === 1) return `Requires the policy ${names[0]}.`
  return `Requires the policies ${listWords(names, names.length)}.`
}
