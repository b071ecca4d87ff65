import { looksLikeGuard } from '../support/guard-names.ts'
import { listWords } from '../support/list-words.ts'
import { nearest } from '../support/nearest.ts'
import type { Finding } from './finding.ts'
import { DEFINITION_KEYS } from './check-definition.ts'

const KEYS: readonly string[] = DEFINITION_KEYS

/** Names of exports that other frameworks call. */
const METHOD = /^(?:get|post|put|patch|GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/

/** Findings and warnings about the names of exports or keys. */
export interface KeyReport {
  readonly findings: readonly Finding[]
  readonly warnings: readonly string[]
}

/**
 * Checks the named exports of a route module. Names that are not keys of a definition are allowed. A misspelled key
 * causes a warning, and a name that looks like a guard is an error.
 */
export function checkExportNames(names: readonly string[]): KeyReport {
  const others = names.filter((name) => name !== 'default' && !KEYS.includes(name))
  const guards = others.filter(looksLikeGuard)
  return {
    findings: guards.map(guardFinding),
    warnings: others
      .filter((name) => !guards.includes(name))
      .flatMap((name) => {
        if (METHOD.test(name))
          return [`exports "${name}", which nothing calls: the method is in the name of the file.`]
        const near = nearKey(name)
        return near === undefined
          ? []
          : [`exports "${name}", which is not a key of a route; did you mean "${near}"?`]
      }),
  }
}

/** Checks the keys of a definition given to `defineRoute`. Every unknown key is an error. */
export function checkDefinitionKeys(names: readonly string[]): Finding[] {
  return names
    .filter((name) => !KEYS.includes(name))
    .map((name) => {
      const near = looksLikeGuard(name) ? 'auth' : nearest(name, KEYS)
      return {
        code: 'MORTAR_ROUTE_KEY',
        found: `has "${name}" in its definition, which is not a key of a route`,
        remedy:
          near === undefined ? `The keys are ${listWords(KEYS, KEYS.length)}.` : `Did you mean "${near}"?`,
      }
    })
}

function guardFinding(name: string): Finding {
  return {
    code: 'MORTAR_ROUTE_GUARD_KEY',
    found: `exports "${name}", which guards nothing`,
    remedy:
      "Write `export const auth = true`, or the name of a policy; rename the export if it isn't a guard.",
  }
}

/** Stricter than `nearest`: the first letter must match, so that `page` is not read as `tags`. */
function nearKey(name: string): string | undefined {
  const initial = name[0]?.toLowerCase()
  return nearest(
    name,
    KEYS.filter((key) => key !== 'auth' && key[0] === initial),
  )
}
