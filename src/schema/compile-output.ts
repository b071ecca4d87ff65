import { assertSchema } from './assert-schema.ts'
import { Invalid } from './invalid.ts'
import { jsonView, withIsoDates } from './yup/json-view.ts'
import type { Schema } from './schema.ts'
import { refuseUnfit } from './yup/shape-guard.ts'
import { validateByStandard } from './validate-standard.ts'
import { validateByYup } from './yup/validate-yup.ts'
import { isYup } from '../compat/yup.ts'

/**
 * Compiles a schema for response values. The function returns the value with only its declared keys, at every depth, or
 * an `Invalid`; a promise of either if the schema is asynchronous.
 *
 * Nothing is coerced and no transform runs. A value is validated in its JSON form: entities and other class instances
 * are objects, `toJSON` counts, a Date is its ISO string, and an ISO string satisfies `date()`; NaN and Infinity are
 * not numbers. Missing optional keys are left out, and missing keys with a default get it. An object schema without
 * fields drops every key: declare `mixed()` for free-form values. A validator of another library filters as that
 * library does.
 *
 * This is the slow path, by yup itself: `compileSerializer` uses it only for values that `compileText` cannot decide.
 */
export function compileOutput(schema: Schema): (value: unknown) => unknown {
  assertSchema(schema, 'response')
  if (!isYup(schema)) return validateByStandard(schema)
  const validate = validateByYup(schema, { strict: true })
  return (value) => {
    const view = jsonView(schema, value)
    const result = refuseUnfit(view) ?? validate(view)
    return result instanceof Promise ? result.then(shown) : shown(result)
  }
}

function shown(result: unknown): unknown {
  return result instanceof Invalid ? result : withIsoDates(result)
}
