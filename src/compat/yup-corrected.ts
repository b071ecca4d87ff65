import { readDateTime } from '../support/iso-date.ts'
import { loadYup } from '../support/lazy-packages.ts'
import { linearPatternOf } from './yup-url.ts'
import type { YupNode, YupTest, YupTransform } from './yup.ts'
import { once, oncePerObject } from '../support/once.ts'

/*
 * Three rules of yup 1.7 accept what an application does not expect, or refuse what it does: `uuid()` knows the versions
 * 1 to 5 only, `integer()` accepts numbers that JavaScript has rounded, and `date()` reads `5` and 30 February. A fourth,
 * `url()`, takes exponential time. Mortar validates by the functions below in their place. yup itself is not changed for
 * code that validates with yup directly.
 */

/** RFC 9562: versions 1 to 8, and the nil and max forms. */
const UUID =
  /^(?:[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}|0{8}-(?:0{4}-){3}0{12}|f{8}-(?:f{4}-){3}f{12})$/i

/** Returns a schema's tests, with a replacement for those of `url()`, `uuid()` and `integer()`. */
export function correctedTests({ tests }: Pick<YupNode, 'tests'>): readonly YupTest[] {
  return tests.some(needsCorrection) ? tests.map(correctedTest) : tests
}

function needsCorrection({ OPTIONS: { name } }: YupTest): boolean {
  return name === 'url' || name === 'uuid' || name === 'integer'
}

const correctedTest = oncePerObject((test: YupTest) => (needsCorrection(test) && replacementOf(test)) || test)

function replacementOf(test: YupTest): YupTest | undefined {
  const { name, message, params } = test.OPTIONS
  if (name === 'integer' && params === undefined)
    return testOf(
      loadYup()
        .number()
        .test({ name, message: message as string, skipAbsent: true, test: Number.isSafeInteger }),
    )
  const pattern = linearPatternOf(test) ?? (isUuidTest(test) ? UUID : undefined)
  if (pattern === undefined) return undefined
  const options = { name: name!, message: message as string, excludeEmptyString: name === 'url' }
  return testOf(loadYup().string().matches(pattern, options))
}

const yupsUuid = once(() => String(testOf(loadYup().string().uuid()).OPTIONS.params?.['regex']))

function isUuidTest({ OPTIONS: { name, params } }: YupTest): boolean {
  return name === 'uuid' && String(params?.['regex']) === yupsUuid()
}

function testOf(schema: { readonly tests: readonly unknown[] }): YupTest {
  return schema.tests.at(-1) as YupTest
}

/** Returns a schema's transforms, with a replacement for the one that reads the dates of `date()`. */
export function correctedTransforms({ type, transforms }: YupNode): readonly YupTransform[] {
  return type === 'date' && transforms.length > 0 ? [readDate, ...transforms.slice(1)] : transforms
}

const INVALID_DATE = new Date(Number.NaN)

const readDate: YupTransform = (value, _original, schema) => {
  if (!schema.spec.coerce || value === null || value instanceof Date) return value
  return readDateTime(value) ?? INVALID_DATE
}
