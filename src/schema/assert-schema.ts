import { inspect } from 'node:util'
import { StartupError } from '../errors/startup-error.ts'
import type { StandardLike } from './schema.ts'
import { isStandard } from './validate-standard.ts'
import { isYup, type YupNode } from '../compat/yup.ts'

/**
 * Refuses anything but a yup schema or a Standard Schema validator.
 * @throws StartupError `MORTAR_NOT_A_SCHEMA` naming the value at `place`.
 */
export function assertSchema(schema: unknown, place: string): asserts schema is YupNode | StandardLike {
  if (isYup(schema) || isStandard(schema)) return
  throw new StartupError(`The ${place} schema is ${describe(schema)}, which is not a schema.`, {
    code: 'MORTAR_NOT_A_SCHEMA',
    remedy: "Give a yup schema, such as yup.object({ … }), or another library's Standard Schema validator.",
  })
}

function describe(given: unknown): string {
  if (given === null || given === undefined) return String(given)
  if (typeof given === 'function') return `the function ${given.name || '(anonymous)'}`
  if (Array.isArray(given)) return 'an array'
  if (typeof given === 'object') return describeObject(given)
  return `the ${typeof given} ${inspect(given).slice(0, 40)}`
}

function describeObject(given: object): string {
  const keys = Object.keys(given).slice(0, 5).join(', ')
  return keys === '' ? 'an object without keys' : `an object with the keys ${keys}`
}
