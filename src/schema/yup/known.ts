import {
  allowedValues,
  firstTests,
  isConditional,
  isRef,
  isYup,
  memberSchemas,
  refusedValues,
  type YupNode,
} from '../../compat/yup.ts'
import { isKnownTest, isKnownTransform, isOwnClass } from '../../compat/yup-functions.ts'
import { isSwitchTransform } from './query-boolean.ts'

/** True when every part of this one schema, its members aside, is yup's own, synchronous and free of references. */
export function isPlain(schema: YupNode): boolean {
  return isPlainButForTests(schema) && schema.tests.every(isPlainTest)
}

/**
 * Returns the schema with those of its tests that are yup's own; undefined if something other than a test is not plain.
 * A value that fails the plain part also fails the schema.
 */
export function plainPart(schema: YupNode): YupNode | undefined {
  if (!isPlainButForTests(schema)) return undefined
  if (schema.tests.every(isPlainTest)) return schema
  return Object.create(schema, { tests: { value: schema.tests.filter(isPlainTest) } }) as YupNode
}

function isPlainButForTests(schema: YupNode): boolean {
  return (
    isOwnClass(schema) &&
    !isConditional(schema) &&
    isPlainSpec(schema.spec) &&
    schema.transforms.every((transform) => isSwitchTransform(transform) || isKnownTransform(transform)) &&
    firstTests(schema).every(isPlainTest) &&
    ![...allowedValues(schema), ...refusedValues(schema)].some(isRef)
  )
}

function isPlainSpec(spec: YupNode['spec']): boolean {
  const dynamicDefault = typeof spec.default === 'function' && spec.default.length > 0
  return spec.coerce && spec.recursive && !spec.strip && !dynamicDefault
}

/** True if a default of the schema or of a part of it is computed by a function of the application. */
export function computesDefaults(schema: unknown): boolean {
  if (!isYup(schema)) return false
  return typeof schema.spec.default === 'function' || memberSchemas(schema).some(computesDefaults)
}

function isPlainTest(test: YupNode['tests'][number]): boolean {
  const { OPTIONS } = test
  return (
    isKnownTest(test) &&
    // `nullable()` and `optional()` leave a test that has no message and cannot fail.
    ['string', 'function', 'undefined'].includes(typeof OPTIONS.message) &&
    !Object.values(OPTIONS.params ?? {}).some(isRef)
  )
}
