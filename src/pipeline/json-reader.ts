import { type Issue, ValidationFailed } from '../errors/http-error.ts'
import { compileValidator } from '../schema/compile-validator.ts'
import { Invalid } from '../schema/invalid.ts'
import type { Schema } from '../schema/schema.ts'
import { mayHaveOddEscapes, refuseOddText } from './refuse-odd-text.ts'
import { parseJson } from './parse-json.ts'

/** Returns the validated value of a JSON text; a promise if the schema is asynchronous. @throws HttpError */
export type ReadJson = (text: string) => unknown

/** Most issues of one error. */
const MOST = 20

/**
 * Compiles a schema for texts of clients that are not bodies of requests, such as messages. The rules are those of a JSON
 * body: `__proto__` keys are removed, and odd characters are refused.
 * @throws StartupError `MORTAR_NOT_A_SCHEMA`. The returned function throws `BadRequest` and `ValidationFailed`.
 */
export function compileJsonReader(schema: Schema): ReadJson {
  const { validate } = compileValidator(schema, 'body')
  return (text) => {
    const value = parseJson(text)
    const odd = mayHaveOddEscapes(text) ? refuseOddText(value, MOST) : undefined
    const result = odd ?? validate(value, MOST)
    return result instanceof Promise ? result.then(accepted) : accepted(result)
  }
}

function accepted(result: unknown): unknown {
  if (!(result instanceof Invalid)) return result
  throw new ValidationFailed(result.issues.map((issue): Issue => ({ location: 'body', ...issue })))
}
