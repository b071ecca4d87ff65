import { arrayLimitsOf } from './array-limits.ts'
import { assertSchema } from './assert-schema.ts'
import { compileOutput } from './compile-output.ts'
import { compilePlainParts, compileYup, type FastValidate } from './yup/compile-yup.ts'
import { FAIL } from './yup/fast-node.ts'
import { inputOfStandard } from './json-schema-standard.ts'
import { oncePerObject, once } from '../support/once.ts'
import { computesDefaults } from './yup/known.ts'
import { coerceText } from './yup/query-coercion.ts'
import { openArraysOf } from './yup/open-arrays.ts'
import type { Schema, StandardLike } from './schema.ts'
import { refuseUnfit } from './yup/shape-guard.ts'
import type { Validate } from './validate.ts'
import { shapeOfJson, shapeOfYup } from './text-shape.ts'
import { validateByStandard } from './validate-standard.ts'
import { validateByYup } from './yup/validate-yup.ts'
import { isYup, type YupNode } from '../compat/yup.ts'
import { isKnownYup } from '../compat/yup-self-test.ts'

/** Source of a value, or `response` for a value that is sent. */
export type ValidatedLocation = 'params' | 'query' | 'headers' | 'body' | 'response'

/** A compiled schema. */
export interface Validator {
  readonly validate: Validate
  /** The first part of `validate`: returns the result for most valid values, and `FAIL` where `explain` decides. */
  readonly run: (value: unknown) => unknown
  readonly explain: Validate
}

/**
 * Compiles a yup schema or a Standard Schema validator for a location. Query, path and header values are text and are
 * coerced (see `coerceText`). A body is not coerced. A response is filtered as `compileOutput` describes. A yup schema
 * is compiled for the first value, once for all routes that share it.
 * @throws StartupError `MORTAR_NOT_A_SCHEMA` for any other value.
 */
export function compileValidator(schema: Schema, location: ValidatedLocation): Validator {
  assertSchema(schema, location)
  if (location === 'response') return inParts(compileOutput(schema))
  return location === 'body' ? bodyValidatorOf(schema) : textValidatorOf(schema)
}

const bodyValidatorOf = oncePerObject((schema: YupNode | StandardLike) => validatorOf(schema, false))
const textValidatorOf = oncePerObject((schema: YupNode | StandardLike) => validatorOf(schema, true))

function validatorOf(schema: YupNode | StandardLike, text: boolean): Validator {
  if (!isYup(schema)) return inParts(standardValidator(schema, text))
  const compile = once(() => Object.assign(validator, inParts(yupValidator(schema, text))))
  // The compiled functions replace these: with many routes, each object of a route costs a request a cache miss.
  const validator: Validator = {
    validate: (value, limit) => compile().validate(value, limit),
    run: (value) => compile().run(value),
    explain: (value, limit) => compile().explain(value, limit),
  }
  return validator
}

function inParts(validate: Validate & Partial<FastValidate>): Validator {
  return { validate, run: validate.run ?? (() => FAIL), explain: validate.explain ?? validate }
}

function yupValidator(schema: YupNode, text: boolean): Validate & Partial<FastValidate> {
  const isKnown = isKnownYup(schema)
  const fast = isKnown ? compileYup(schema, text) : undefined
  const tooMany = openArraysOf(schema)
  if (fast !== undefined)
    return computesDefaults(schema) ? (value, limit) => tooMany(value) ?? fast(value, limit) : fast
  const refuseEarly = isKnown ? compilePlainParts(schema) : () => undefined
  const byYup = validateByYup(schema)
  // The cheap checks come first, because yup calls functions of the application for each item.
  const slow: Validate = (value, limit) =>
    tooMany(value) ?? refuseUnfit(value) ?? refuseEarly(value, limit) ?? byYup(value, limit)
  return text ? coercing(schema, slow) : slow
}

function coercing(schema: YupNode, validate: Validate): Validate {
  const shape = shapeOfYup(schema)
  return (value, limit) => validate(coerceText(shape, value), limit)
}

function standardValidator(schema: StandardLike, text: boolean): Validator['validate'] {
  const tooLong = once(() => arrayLimitsOf(schema))
  const byLibrary = validateByStandard(schema)
  const validate: Validate = (value, limit) => tooLong()(value, limit) ?? byLibrary(value, limit)
  if (!text) return validate
  const shape = shapeOfJson(inputOfStandard(schema))
  return (value, limit) => validate(coerceText(shape, value, notANumber), limit)
}

/** Replaces text that is not a valid number for other libraries, so that they report an issue. */
const notANumber = (): number => Number.NaN
