import { StartupError, StartupErrors } from '../errors/startup-error.ts'
import { checkDefinition } from './check-definition.ts'
import { checkDefinitionKeys } from './check-keys.ts'
import { parameterNames, parsePattern } from './path-pattern.ts'
import type { Route } from './route.ts'

/**
 * Checks the definitions of routes in routers with the same rules as route files: a mistyped `auth` must not make a
 * route public.
 * @throws StartupError, or StartupErrors with every finding of every route.
 */
export function checkRoutes(routes: readonly Route[]): void {
  const errors = routes.flatMap(findingsOf)
  if (errors.length === 1) throw errors[0]!
  if (errors.length > 1)
    throw new StartupErrors(`The routes of routers have ${errors.length} faults.`, errors)
}

function findingsOf({ method, path, definition, origin }: Route): StartupError[] {
  const parameters = parameterNames(parsePattern(path, origin))
  const findings = [
    ...checkDefinitionKeys(Object.keys(definition)),
    ...checkDefinition({ ...definition }, { method, parameters }),
  ]
  return findings.map(
    ({ code, found, remedy }) =>
      new StartupError(`${method} ${path} of ${origin} ${found}.`, { code, remedy, files: [origin] }),
  )
}
