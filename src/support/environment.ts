/** Environment variables by name. */
export type Variables = Record<string, string | undefined>

/** The process's own variables: the one place where the framework reads `process.env` (`test/architecture` holds that). */
export function processVariables(): Variables {
  return process.env
}

/**
 * The mode to run in, from `NODE_ENV`: `production` and `test` are themselves, anything else is `development`.
 * Surrounding blanks and capitals do not matter, so `Production` cannot open what production closes.
 */
export function readEnvironment(
  variables: Variables = processVariables(),
): 'development' | 'test' | 'production' {
  const mode = variables['NODE_ENV']?.trim().toLowerCase()
  return mode === 'production' || mode === 'test' ? mode : 'development'
}
