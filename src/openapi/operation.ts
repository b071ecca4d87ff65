import type { SecurityScheme } from '../contracts/authenticator.ts'
import type { Route } from '../routing/route.ts'
import { withoutEmpty, type JsonObject } from './json.ts'
import { parametersOf } from './parameters.ts'
import { requestBodyOf } from './request-body.ts'
import { responsesOf } from './responses.ts'
import type { SchemaReader } from './schema-reader.ts'
import { isGuarded, policiesOf, policySentence } from './security.ts'

/** Input that all operations of one document share. */
export interface OperationContext {
  readonly ids: ReadonlyMap<Route, string>
  readonly reader: SchemaReader
  readonly security: SecurityScheme
}

/** Returns the OpenAPI operation object of a route. Policies appear in `x-policies` and in the description. */
export function operationOf(route: Route, { ids, reader, security }: OperationContext): JsonObject {
  const { summary, description, tags } = route.definition
  const policies = policiesOf(route)
  return withoutEmpty({
    operationId: ids.get(route),
    tags: [...new Set(tags)],
    summary,
    description: [description, policySentence(policies)].filter(Boolean).join('\n\n') || undefined,
    parameters: parametersOf(route, reader),
    requestBody: requestBodyOf(route, reader),
    responses: responsesOf(route, reader),
    security: isGuarded(route) ? [{ [security.name]: [] }] : undefined,
    'x-policies': policies,
  })
}
