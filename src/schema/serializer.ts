import { assertSchema } from './assert-schema.ts'
import { compileOutput } from './compile-output.ts'
import { Invalid, issueAt } from './invalid.ts'
import { once, oncePerObject } from '../support/once.ts'
import { isYup } from '../compat/yup.ts'
import { isKnownYup } from '../compat/yup-self-test.ts'
import type { Schema } from './schema.ts'
import { compileText } from './yup/fast-text.ts'
import type { Write } from './yup/text-source.ts'

/** Returns the JSON text of a value filtered by a schema, or an `Invalid`; a promise if the schema is asynchronous. */
export type Serializer = (value: unknown) => string | Invalid | Promise<string | Invalid>

/**
 * Compiles a response schema to a serializer: filters and validates as `compileOutput` describes, and writes JSON with
 * the keys in the order of declaration. A value that JSON cannot express (a bigint, a cycle) is an `Invalid` too, so
 * that no partial response is sent. The schema is compiled for the first value, once for all routes that share it.
 * @throws StartupError `MORTAR_NOT_A_SCHEMA` if the argument is not a schema.
 */
export function compileSerializer(schema: Schema): Serializer {
  assertSchema(schema, 'response')
  return serializerOf(schema)
}

const serializerOf = oncePerObject((schema: Schema): Serializer => {
  const slow = once(() => serializeSlowly(schema))
  let fast: Write | undefined
  return (value) => {
    fast ??= (isYup(schema) && isKnownYup(schema) ? compileText(schema)?.write : undefined) ?? ALWAYS_SLOW
    const text = fast(value)
    return typeof text === 'string' ? text : slow()(value)
  }
})

const ALWAYS_SLOW: Write = () => undefined

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
    return text ?? new Invalid([issueAt('', { rule: 'required' }, 'this has no value')])
  } catch (error) {
    return new Invalid([
      issueAt('', { rule: 'type' }, `this cannot be written as JSON (${(error as Error).message})`),
    ])
  }
}
