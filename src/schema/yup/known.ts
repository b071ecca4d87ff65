import { loadYup } from '../../support/lazy-packages.ts'
import { isSwitchTransform } from './query-boolean.ts'
import { mendUrlPattern } from './url-pattern.ts'
import { isRef, type YupNode } from './yup-node.ts'

const yup = loadYup()
mendUrlPattern(yup)

/**
 * Recognises the parts of a schema that yup itself made. yup makes a new function for each use, so identity says
 * nothing; the source text does. Recognised functions are called as they are, never rewritten, unless a differential
 * test shows a faster form to be equal.
 */
const SAMPLES = [
  yup.string().required().min(1).max(1).matches(/x/).trim().lowercase().ensure(),
  yup.string().length(1).datetime().uppercase(),
  yup.number().min(1).max(1).integer().truncate().round('ceil'),
  yup.number().moreThan(1).lessThan(1),
  yup.date().min(new Date(0)).max(new Date(0)),
  yup.boolean().isTrue(),
  yup.boolean().isFalse(),
  yup.object().noUnknown().exact(),
  yup.array().min(1).max(1),
  yup.array().length(1),
  yup.mixed().oneOf([1]).notOneOf([2]),
  yup.tuple([yup.mixed()]),
] as unknown as readonly YupNode[]

const TESTS = new Set(
  SAMPLES.flatMap((sample) =>
    [...sample.tests, ...ownTests(sample)].map((test) => sourceOf(test.OPTIONS.test)),
  ),
)
const TRANSFORMS = new Set(SAMPLES.flatMap((sample) => sample.transforms.map(sourceOf)))

const PROTOTYPES: Readonly<Record<string, object>> = {
  string: yup.StringSchema.prototype,
  number: yup.NumberSchema.prototype,
  boolean: yup.BooleanSchema.prototype,
  date: yup.DateSchema.prototype,
  mixed: yup.MixedSchema.prototype,
  object: yup.ObjectSchema.prototype,
  array: yup.ArraySchema.prototype,
  tuple: yup.TupleSchema.prototype,
}

const ANYTHING = (yup.mixed() as unknown as YupNode)._typeCheck

/** The tests that yup runs first: type, null, undefined, allowed and refused values. */
export function ownTests(schema: YupNode): YupNode['tests'] {
  return Object.values(schema.internalTests).filter((test) => test !== undefined)
}

/** True for a test that yup's own methods add. */
export function isKnownTest({ OPTIONS }: YupNode['tests'][number]): boolean {
  return TESTS.has(sourceOf(OPTIONS.test))
}

/** True when every part of this one schema, its members aside, is yup's own, synchronous and free of references. */
export function isPlain(schema: YupNode): boolean {
  return isPlainButForTests(schema) && schema.tests.every(isPlainTest)
}

/**
 * Returns the schema with those of its tests that are yup's own; undefined when something other than a test is not
 * plain. What fails the plain part fails the schema too.
 */
export function plainPart(schema: YupNode): YupNode | undefined {
  if (!isPlainButForTests(schema)) return undefined
  if (schema.tests.every(isPlainTest)) return schema
  return Object.create(schema, { tests: { value: schema.tests.filter(isPlainTest) } }) as YupNode
}

function isPlainButForTests(schema: YupNode): boolean {
  return (
    PROTOTYPES[schema.type] === Object.getPrototypeOf(schema) &&
    (schema.type !== 'mixed' || schema._typeCheck === ANYTHING) &&
    schema.conditions.length === 0 &&
    isPlainSpec(schema.spec) &&
    schema.transforms.every(
      (transform) => isSwitchTransform(transform) || TRANSFORMS.has(sourceOf(transform)),
    ) &&
    ownTests(schema).every(isPlainTest) &&
    ![...schema._whitelist, ...schema._blacklist].some(isRef)
  )
}

function isPlainSpec(spec: YupNode['spec']): boolean {
  const dynamicDefault = typeof spec.default === 'function' && spec.default.length > 0
  return spec.coerce && spec.recursive && !spec.strip && !dynamicDefault
}

function isPlainTest(test: YupNode['tests'][number]): boolean {
  const { OPTIONS } = test
  return (
    isKnownTest(test) &&
    // `nullable()` and `optional()` leave a test behind that has no message, and cannot fail.
    ['string', 'function', 'undefined'].includes(typeof OPTIONS.message) &&
    !Object.values(OPTIONS.params ?? {}).some(isRef)
  )
}

// oxlint-disable-next-line typescript/no-unsafe-function-type
function sourceOf(fn: Function): string {
  return Function.prototype.toString.call(fn)
}
