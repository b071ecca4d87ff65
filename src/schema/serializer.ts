import { assertSchema } from './assert-schema.ts'
import { compileOutput } from './compile-output.ts'
import { Invalid, issueAt } from './invalid.ts'
import { once, oncePerSchema } from './once.ts'
import { isYup } from '../compat/yup.ts'
import { yupFault } from '../compat/yup-self-test.ts'
import type { Schema } from './schema.ts'
import { compileText } from './yup/fast-text.ts'

/** The JSON text of a value seen through a schema, or an `Invalid`; a promise when the schema is asynchronous. */
export type Serializer = (value: unknown) => string | Invalid | Promise<string | Invalid>

/**
 * Compiles a response schema to a serializer: filters and judges as `compileOutput` says, and writes JSON with the keys
 * in the order in which they are declared. A value that JSON cannot hold (a bigint, a cycle) is an `Invalid` too, so
 * nothing half-written leaves. The work is done at the first value, and once for all routes that give the same schema.
 * @throws StartupError `MORTAR_NOT_A_SCHEMA` when it is given no schema.
 */
export function compileSerializer(schema: Schema): Serializer {
  assertSchema(schema, 'response')
  return serializerOf(schema)
}

const serializerOf = oncePerSchema((schema: Schema): Serializer => {
  const slow = once(() => serializeSlowly(schema))
  const fast = once(
    () => (isYup(schema) && yupFault() === undefined ? compileText(schema) : undefined) ?? ALWAYS_SLOW,
  )
  return (value) => {
    const text = fast().write(value)
    return typeof text === 'string' ? text : slow()(value)
  }
})

const ALWAYS_SLOW = { write: (): undefined => undefined }

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
