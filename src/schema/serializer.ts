import { assertSchema } from './assert-schema.ts'
import { compileOutput } from './compile-output.ts'
import { Invalid, issueAt } from './invalid.ts'
import type { Schema } from './schema.ts'
import { compileText } from './yup/fast-text.ts'

/** The JSON text of a value seen through a schema, or an `Invalid`; a promise when the schema is asynchronous. */
export type Serializer = (value: unknown) => string | Invalid | PromiseLike<string | Invalid>

/**
 * Compiles a response schema to a serializer: filters and judges as `compileOutput` says, and writes JSON with the keys
 * in the order in which they are declared. A value that JSON cannot hold (a bigint, a cycle) is an `Invalid` too, so
 * nothing half-written leaves.
 * @throws StartupError `MORTAR_NOT_A_SCHEMA` when it is given no schema.
 */
export function compileSerializer(schema: Schema): Serializer {
  assertSchema(schema, 'response')
  const slow = serializeSlowly(schema)
  const fast = compileText(schema)?.write
  if (fast === undefined) return slow
  return (value) => {
    const text = fast(value)
    return typeof text === 'string' ? text : slow(value)
  }
}

function serializeSlowly(schema: Schema): Serializer {
  const output = compileOutput(schema)
  return (value) => {
    const result = output(value)
    return result instanceof Promise ? result.then(write) : write(result)
  }
}

function write(value: unknown): string | Invalid {
  if (value instanceof Invalid) return value
  try {
    const text = JSON.stringify(value) as string | undefined
    return text ?? new Invalid([issueAt('', 'this has no value')])
  } catch (error) {
    return new Invalid([issueAt('', `this cannot be written as JSON (${(error as Error).message})`)])
  }
}
