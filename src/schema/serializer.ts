import { compileOutput } from './compile-output.ts'
import { Invalid, issueAt } from './invalid.ts'
import type { Schema } from './schema.ts'

/** The JSON text of a value seen through a schema, or an `Invalid`; a promise when the schema is asynchronous. */
export type Serializer = (value: unknown) => string | Invalid | Promise<string | Invalid>

/**
 * Compiles a response schema to a serializer: filters and judges as `compileOutput` says, then writes JSON. A value
 * that JSON cannot hold (a bigint, a cycle) is an `Invalid` too, so nothing half-written leaves.
 * @throws StartupError `MORTAR_NOT_A_SCHEMA` when it is given no schema.
 */
export function compileSerializer(schema: Schema): Serializer {
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
