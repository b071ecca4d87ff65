import * as yup from 'yup'
import { queryBoolean } from '../../../src/schema/yup/query-boolean.ts'
import type { Random } from './random.ts'

type AnySchema = yup.Schema<unknown>
/** Each step narrows its own type parameter, which does not matter here. */
type Step<S> = (schema: S) => unknown

/** Makes a random plain schema of a kind, out of every part of yup that the fast path claims to know. */
export function randomSchema(kind: string, random: Random, depth = 2): AnySchema {
  const make = MAKERS[kind] ?? MAKERS.mixed!
  return withCommon(make(random, depth), random)
}

export const LEAF_KINDS = ['string', 'number', 'boolean', 'switch', 'date', 'mixed'] as const
export const KINDS = [...LEAF_KINDS, 'array', 'tuple', 'object'] as const

/** Names that members of random objects have; values are made with the same ones. */
export const MEMBER_NAMES = ['a', 'b', 'c.d', 'id', 'created-at'] as const

const MAKERS: Readonly<Record<string, (random: Random, depth: number) => AnySchema>> = {
  string: (random) => some(yup.string(), STRING_STEPS, random),
  number: (random) => some(yup.number(), NUMBER_STEPS, random),
  boolean: (random) => some(yup.boolean(), [(s) => s.isTrue(), (s) => s.isFalse('${path} no')], random),
  switch: () => queryBoolean(),
  date: (random) => some(yup.date(), DATE_STEPS, random),
  mixed: () => yup.mixed(),
  array: (random, depth) =>
    some(yup.array(random.chance(0.8) ? member(random, depth) : undefined), LIST_STEPS, random),
  tuple: (random, depth) => yup.tuple([member(random, depth), member(random, depth)]),
  object: (random, depth) => {
    const names = MEMBER_NAMES.filter(() => random.chance(0.7))
    const fields = Object.fromEntries(names.map((name) => [name, member(random, depth)]))
    return some(yup.object(fields) as yup.ObjectSchema<yup.AnyObject>, OBJECT_STEPS, random) as AnySchema
  },
}

function member(random: Random, depth: number): AnySchema {
  return randomSchema(random.pick(depth > 0 ? KINDS : LEAF_KINDS), random, depth - 1)
}

function some<S>(schema: S, steps: readonly Step<S>[], random: Random): S {
  return steps.reduce(
    (result, step) => (random.chance(1.6 / steps.length) ? (step(result) as typeof result) : result),
    schema,
  )
}

const STRING_STEPS: readonly Step<yup.StringSchema<string | undefined | null>>[] = [
  (s) => s.min(2),
  (s) => s.max(4, 'at most ${max}, not "${value}"'),
  (s) => s.length(3),
  (s) => s.matches(/^[a-z]+$/),
  (s) => s.matches(/x/g, { excludeEmptyString: true, message: '${path} lacks ${regex}' }),
  (s) => s.matches(/^a/, { name: 'required' }),
  (s) => s.email(),
  (s) => s.url(),
  (s) => s.uuid(),
  (s) => s.datetime({ precision: 3 }),
  (s) => s.trim(),
  (s) => s.lowercase(),
  (s) => s.uppercase(),
  (s) => s.ensure(),
  (s) => s.typeError('not text: ${value}'),
  (s) => s.oneOf(['a', 'abc', '1']),
  (s) => s.notOneOf(['a', 'x']),
  (s) => s.default('abc'),
]
const NUMBER_STEPS: readonly Step<yup.NumberSchema<number | undefined | null>>[] = [
  (s) => s.min(2),
  (s) => s.max(9),
  (s) => s.moreThan(1),
  (s) => s.lessThan(5),
  (s) => s.positive(),
  (s) => s.negative((params) => `${params.path} is ${String(params.value)}`),
  (s) => s.integer(),
  (s) => s.truncate(),
  (s) => s.round('ceil'),
  (s) => s.oneOf([1, 5]),
  (s) => s.notOneOf([5]),
  (s) => s.default(7),
  (s) => s.default(() => 8),
]
const DATE_STEPS: readonly Step<yup.DateSchema<Date | undefined | null>>[] = [
  (s) => s.min('2020-01-01T00:00:00Z'),
  (s) => s.max(new Date('2024-01-01T00:00:00Z')),
  (s) => s.default(new Date(5)),
]
const LIST_STEPS: readonly Step<yup.ArraySchema<unknown[] | undefined | null, yup.AnyObject>>[] = [
  (s) => s.min(1),
  (s) => s.max(2),
  (s) => s.length(2),
  (s) => s.default([]),
]
const OBJECT_STEPS: readonly Step<yup.ObjectSchema<yup.AnyObject>>[] = [
  (s) => s.noUnknown(),
  (s) => s.exact(),
  (s) => s.default(undefined),
  (s) => s.default({ a: 'x' }),
]

function withCommon(schema: AnySchema, random: Random): AnySchema {
  const steps: readonly Step<AnySchema>[] = [
    (s) => (s as yup.MixedSchema).required(),
    (s) => (s as yup.MixedSchema).defined('say something'),
    (s) => (s as yup.MixedSchema).nullable(),
    (s) => (s as yup.MixedSchema).notRequired(),
    (s) => s.label('The thing'),
    (s) => s.strict(),
    (s) => s.oneOf(['a', 1, true]),
  ]
  return steps.reduce(
    (result, step, index) => (random.chance(RATES[index]!) ? (step(result) as typeof result) : result),
    schema,
  )
}

const RATES = [0.35, 0.1, 0.15, 0.08, 0.06, 0.05, 0.03]
