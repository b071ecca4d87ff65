import { join, resolve } from 'node:path'
import { loadEnvFiles } from '../../support/env/env-files.ts'
import { processVariables, STATE_VARIABLE, type Variables } from '../../support/env/environment.ts'

/** Adds what `mortar start` gives an application: variables of its `.env` files, and production by default. */
export function productionVariables(
  root: string,
  variables: Variables = { ...processVariables() },
): Variables {
  variables['NODE_ENV'] ||= 'production'
  loadEnvFiles(root, { variables })
  return variables
}

/**
 * Returns the folder of the files that operators and processes share: `FRAMEWORK_STATE`, relative to the project, else
 * `.framework` of the project.
 */
export function stateFolder(root: string, variables: Variables = productionVariables(root)): string {
  const given = variables[STATE_VARIABLE]?.trim()
  return given ? resolve(root, given) : join(root, '.framework')
}
