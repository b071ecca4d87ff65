import type * as Yup from 'yup'
import { loadYup } from '../support/lazy-packages.ts'
import { once, oncePerObject } from '../support/once.ts'
import { firstTests, typeCheckOf, type YupNode, type YupTest, type YupTransform } from './yup.ts'

/** The tests, transforms and classes of yup's own methods, read with the first schema. */
interface Known {
  readonly tests: ReadonlySet<string>
  readonly transforms: ReadonlySet<string>
  readonly prototypes: Readonly<Record<string, object>>
  /** The classes that all others extend. */
  readonly bases: readonly object[]
  /** The function that runs a test. */
  readonly runner: string
  /** The check of a `mixed()` without one. */
  readonly anything: string
}

/**
 * Recognises the parts of a schema that yup itself created. yup creates a new function for each use, so functions are
 * compared by source text, not by identity. Recognised functions are called unchanged, unless a differential test shows
 * that a faster form is equal.
 */
const readKnown = once((): Known => {
  const yup = loadYup()
  const samples = samplesOf(yup)
  return {
    tests: new Set(
      samples.flatMap((sample) =>
        [...sample.tests, ...firstTests(sample)].map((test) => sourceOf(test.OPTIONS.test)),
      ),
    ),
    transforms: new Set(samples.flatMap((sample) => sample.transforms.map(sourceOf))),
    prototypes: {
      string: yup.StringSchema.prototype,
      number: yup.NumberSchema.prototype,
      boolean: yup.BooleanSchema.prototype,
      date: yup.DateSchema.prototype,
      mixed: yup.MixedSchema.prototype,
      object: yup.ObjectSchema.prototype,
      array: yup.ArraySchema.prototype,
      tuple: yup.TupleSchema.prototype,
    },
    bases: [yup.Schema.prototype, Object.getPrototypeOf(yup.lazy(() => yup.mixed())) as object],
    runner: sourceOf(samples[0]!.tests[0]!),
    anything: sourceOf(typeCheckOf(yup.mixed() as unknown as YupNode)),
  }
})

function samplesOf(yup: typeof Yup): readonly YupNode[] {
  return [
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
}

/** True for a test that yup's own methods add. */
export function isKnownTest({ OPTIONS }: YupTest): boolean {
  return readKnown().tests.has(sourceOf(OPTIONS.test))
}

/** True for a transform that yup's own methods add. */
export function isKnownTransform(transform: YupTransform): boolean {
  return readKnown().transforms.has(sourceOf(transform))
}

/**
 * True for a schema of one of yup's own classes, and not of a class that extends one. Another copy of yup may have made
 * it, if its code is the same: an application has a copy of its own when Mortar is linked.
 */
export function isOwnClass(schema: YupNode): boolean {
  const { prototypes, anything } = readKnown()
  const own = prototypes[schema.type]
  return (
    own !== undefined &&
    isSameCode(Object.getPrototypeOf(schema) as object, own) &&
    (schema.type !== 'mixed' || sourceOf(typeCheckOf(schema)) === anything)
  )
}

/** True if the base class of a schema is that of Mortar's copy of yup, or has the same code. */
export function isKnownCode(schema: YupNode): boolean {
  const { bases, runner } = readKnown()
  const base = baseOf(Object.getPrototypeOf(schema) as object)
  if (bases.includes(base)) return true
  if (!bases.some((own) => isSameCode(base, own))) return false
  return schema.type === 'lazy' || firstTests(schema).every((test) => sourceOf(test) === runner)
}

/** Returns the class of a chain that extends nothing. */
function baseOf(prototype: object): object {
  const next = Object.getPrototypeOf(prototype) as object | null
  return next === null || next === Object.prototype ? prototype : baseOf(next)
}

function isSameCode(prototype: object, own: object): boolean {
  return prototype === own || codeOf(prototype) === codeOf(own)
}

/** Returns the source text of a class and of all that it extends. */
const codeOf = oncePerObject((prototype: object): string => {
  const next = Object.getPrototypeOf(prototype) as object | null
  if (next === null || typeof prototype.constructor !== 'function') return ''
  return sourceOf(prototype.constructor) + codeOf(next)
})

function sourceOf(fn: object): string {
  return Function.prototype.toString.call(fn)
}
