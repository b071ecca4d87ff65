import type * as Yup from 'yup'
import { loadYup } from '../support/lazy-packages.ts'
import { firstTests, typeCheckOf, type YupNode, type YupTest, type YupTransform } from './yup.ts'

/** The tests, transforms and classes of yup's own methods, read with the first schema. */
interface Known {
  readonly tests: ReadonlySet<string>
  readonly transforms: ReadonlySet<string>
  readonly prototypes: Readonly<Record<string, object>>
  readonly anything: (value: unknown) => boolean
}

let known: Known | undefined

/**
 * Recognises the parts of a schema that yup itself created. yup creates a new function for each use, so functions are
 * compared by source text, not by identity. Recognised functions are called unchanged, unless a differential test shows
 * that a faster form is equal.
 */
function readKnown(): Known {
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
    anything: typeCheckOf(yup.mixed() as unknown as YupNode),
  }
}

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
  return (known ??= readKnown()).tests.has(sourceOf(OPTIONS.test))
}

/** True for a transform that yup's own methods add. */
export function isKnownTransform(transform: YupTransform): boolean {
  return (known ??= readKnown()).transforms.has(sourceOf(transform))
}

/** True for a schema of one of yup's own classes, and not of a class that extends one. */
export function isOwnClass(schema: YupNode): boolean {
  const { prototypes, anything } = (known ??= readKnown())
  return (
    prototypes[schema.type] === Object.getPrototypeOf(schema) &&
    (schema.type !== 'mixed' || typeCheckOf(schema) === anything)
  )
}

// oxlint-disable-next-line typescript/no-unsafe-function-type
function sourceOf(fn: Function): string {
  return Function.prototype.toString.call(fn)
}
