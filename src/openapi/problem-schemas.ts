import type { JsonObject } from './json.ts'

const PROBLEM_PROPERTIES = {
  type: { type: 'string', format: 'uri-reference', description: 'URI of the kind of problem.' },
  title: { type: 'string', description: 'Summary of the kind of problem.' },
  status: { type: 'integer', minimum: 400, maximum: 599 },
  detail: { type: 'string', description: 'What was wrong with this request.' },
  code: { type: 'string', description: 'Stable name of the kind of problem, for programs.' },
  instance: { type: 'string', description: 'Id of the request, also in the log. Some problems omit it.' },
}

const PROBLEM: JsonObject = {
  type: 'object',
  description: 'A problem (RFC 9457). A kind of problem may have further members.',
  required: ['type', 'title', 'status', 'detail', 'code'],
}

const VALIDATION_PROBLEM: JsonObject = {
  description: 'A problem that lists the invalid values of the request.',
  allOf: [{ $ref: '#/components/schemas/Problem' }],
  type: 'object',
  properties: {
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          location: { type: 'string', enum: ['params', 'query', 'headers', 'body'] },
          path: { type: 'string', description: 'Path inside the location, such as `items[0].qty`.' },
          rule: { type: 'string', description: 'Rule that the value breaks, such as `min`, for programs.' },
          params: {
            type: 'object',
            description: 'Constants of the rule, such as `{ "min": 1 }`.',
            additionalProperties: true,
          },
          message: { type: 'string' },
        },
        required: ['location', 'path', 'rule', 'message'],
      },
    },
    truncated: { const: true, description: 'There are more issues than `errors` lists.' },
  },
  required: ['errors'],
}

/**
 * The schemas that every document has under `components.schemas`. `codes` are those of the core and of the bricks; a
 * handler may send others, so they are examples and not an enumeration.
 */
export function problemSchemas(codes: readonly string[]): JsonObject {
  const properties = {
    ...PROBLEM_PROPERTIES,
    code: { ...PROBLEM_PROPERTIES.code, examples: codes.toSorted() },
  }
  return { Problem: { ...PROBLEM, properties }, ValidationProblem: VALIDATION_PROBLEM }
}

/** A response object whose body is a problem. */
export function problemResponse(
  description: string,
  schema: 'Problem' | 'ValidationProblem' = 'Problem',
): JsonObject {
  return {
    description,
    content: { 'application/problem+json': { schema: { $ref: `#/components/schemas/${schema}` } } },
  }
}
