import type { FastNode, SlowPath } from './fast-node.ts'
import { isObject } from '../../support/describe-value.ts'
import { once } from '../../support/once.ts'
import { readDigits } from './quick.ts'
import type { YupNode } from '../../compat/yup.ts'

/**
 * Shape that a schema expects of text from a query, a path or a header: a number, a boolean to be read from words, one
 * value of another kind, a list, an object of these, or anything.
 */
export interface TextShape {
  readonly kind: 'number' | 'boolean' | 'single' | 'list' | 'object' | 'any'
  /** Shape of a list's items. */
  readonly item?: TextShape
  /** Shapes of a tuple's items. */
  readonly items?: readonly TextShape[]
  /** Shapes of an object's members. */
  readonly members?: ReadonlyMap<string, TextShape>
}

/**
 * Coerces the text of one location to a shape: a scalar becomes a list of one; a decimal number becomes a number; text
 * that a schema library would wrongly read as a number (`0x10`, `1e3`, ` 5 `, an empty string, `Infinity`), and a
 * repeated parameter for a single value, become `refused(value)`. The input is not changed.
 */
export function coerceText(
  shape: TextShape,
  value: unknown,
  refused: (value: unknown) => unknown = refuse,
): unknown {
  const result = STEPS[shape.kind](value, refused)
  if (shape.kind === 'list' && Array.isArray(result)) return coerceItems(shape, result, refused)
  if (shape.members && isObject(result)) return coerceMembers(shape.members, result, refused)
  return result
}

/** Compiles a yup schema that coerces text before validation. Messages still quote the original text. */
export function coerced(schema: YupNode, node: FastNode): FastNode {
  const step = STEPS[kindOfYup(schema)]
  if (step === keep) return node
  return {
    quick: node.quick,
    absence: node.absence,
    height: node.height,
    run: (value) => node.run(step(value, refuse)),
    long: once((): SlowPath => {
      const long = node.long()
      return (given, issues) => long({ ...given, value: step(given.value, refuse) }, issues)
    }),
  }
}

/** Shapes that yup schemas expect of text, by type. */
export function kindOfYup(schema: YupNode): TextShape['kind'] {
  return KINDS[schema.type] ?? 'any'
}

const KINDS: Readonly<Record<string, TextShape['kind']>> = {
  number: 'number',
  boolean: 'single',
  date: 'single',
  array: 'list',
  tuple: 'list',
  object: 'object',
}

type Step = (value: unknown, refused: (value: unknown) => unknown) => unknown

const keep: Step = (value) => value

const STEPS: Readonly<Record<TextShape['kind'], Step>> = {
  number: (value, refused) => {
    if (typeof value === 'string') return readDecimal(value) ?? refused(value)
    return Array.isArray(value) ? refused(value) : value
  },
  boolean: (value, refused) => {
    if (typeof value === 'string') return WORDS.get(value.toLowerCase()) ?? value
    return Array.isArray(value) ? refused(value) : value
  },
  single: (value, refused) => (Array.isArray(value) ? refused(value) : value),
  list: (value) => (typeof value === 'string' ? [value] : value),
  object: keep,
  any: keep,
}

const WORDS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

const DECIMAL = /^[+-]?\d+(?:\.\d+)?$/

/** Reads a finite number of decimal digits with an optional sign and fraction; undefined for any other text. */
export function readDecimal(text: string): number | undefined {
  const digits = readDigits(text)
  if (digits !== undefined) return digits
  const number = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : undefined
}

/** Replaces a value that must not be read as a number. yup casts it to NaN and quotes the original text. */
class RefusedText {
  readonly #sent: unknown

  constructor(sent: unknown) {
    this.#sent = sent
  }

  toString(): string {
    return 'NaN'
  }

  toJSON(): unknown {
    return this.#sent
  }
}

function refuse(value: unknown): RefusedText {
  return new RefusedText(value)
}

function coerceItems(
  shape: TextShape,
  items: readonly unknown[],
  refused: (value: unknown) => unknown,
): unknown {
  return items.map((item, index) => {
    const expected = shape.items?.[index] ?? shape.item
    return expected ? coerceText(expected, item, refused) : item
  })
}

function coerceMembers(
  members: ReadonlyMap<string, TextShape>,
  value: Record<string, unknown>,
  refused: (value: unknown) => unknown,
): unknown {
  let result = value
  for (const [key, shape] of members) {
    if (!Object.hasOwn(value, key)) continue
    const after = coerceText(shape, value[key], refused)
    if (after === value[key]) continue
    if (result === value) result = { ...value }
    result[key] = after
  }
  return result
}
