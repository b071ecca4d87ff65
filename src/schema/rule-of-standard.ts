import { brokenRule, CUSTOM } from './broken-rule.ts'
import type { BrokenRule } from './invalid.ts'

/** An issue of a Standard Schema validator. Libraries add members of their own, which name the rule. */
export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The members by which zod (`code`), arktype (`code`) and valibot (`type`) name a rule and its constants. */
interface OwnMembers {
  readonly code?: unknown
  readonly type?: unknown
  readonly [member: string]: unknown
}

type Read = (issue: OwnMembers, value: unknown) => BrokenRule

/**
 * Returns the rule of an issue in the words of `docs/schemas.md`, which are those of yup. A rule that yup does not have
 * keeps its library's own word; an issue without one is `custom`. Nothing is read of the value but whether it is absent.
 */
export function ruleOfStandard(issue: StandardIssue, value: unknown): BrokenRule {
  const own = issue as unknown as OwnMembers
  const word = own.code ?? own.type
  if (typeof word !== 'string' || !IDENTIFIER.test(word)) return { rule: CUSTOM }
  const read = RULES.get(word) ?? (own['kind'] === 'schema' ? typeNamed(word) : undefined)
  return read?.(own, value) ?? { rule: word }
}

const IDENTIFIER = /^[a-z]\w{0,59}$/i

const named = (rule: string): Read => () => ({ rule }) // prettier-ignore
const withConstant =
  (rule: string, param: string, member: string): Read =>
  (issue) =>
    brokenRule(rule, { [param]: issue[member] })

/** A rule that an absent value breaks before any other. */
const present =
  (read: Read): Read =>
  (issue, value) =>
    value === undefined || value === null ? { rule: 'required' } : read(issue, value)

const TYPES: Readonly<Record<string, string>> = {
  Array: 'array',
  Date: 'date',
  int: 'integer',
  record: 'object',
  strict_object: 'object',
  loose_object: 'object',
  object_with_rest: 'object',
  tuple: 'array',
  strict_tuple: 'array',
  loose_tuple: 'array',
  tuple_with_rest: 'array',
}

const typeNamed = (name: string): Read => present(() => brokenRule('type', { type: TYPES[name] ?? name }))

function nameOf(type: unknown): string | undefined {
  if (typeof type === 'function') return type.name
  return typeof type === 'string' ? type : undefined
}

const isType = (member: string): Read =>
  present((issue, value) => {
    const name = nameOf(issue[member])
    if (name === 'int' && typeof value === 'number') return { rule: 'integer' }
    return name === undefined ? { rule: 'type' } : typeNamed(name)(issue, value)
  })

/** Bounds of zod: `origin` is the type, `exact` marks a fixed length. */
const zodBound =
  (rule: 'min' | 'max', member: string, open: string): Read =>
  ({ [member]: bound, inclusive, exact, origin }) => {
    if (origin === 'int') return { rule: 'integer' }
    if (exact === true) return brokenRule('length', { length: bound })
    const at = origin === 'date' && typeof bound === 'number' ? new Date(bound) : bound
    return brokenRule(rule, { [inclusive === false ? open : rule]: at })
  }

/** Bounds of arktype. */
const arkBound =
  (rule: 'min' | 'max', open: string): Read =>
  (issue) =>
    brokenRule(rule, { [issue['exclusive'] === true ? open : rule]: issue['rule'] })

const FORMATS: Readonly<Record<string, string>> = {
  guid: 'uuid',
  starts_with: 'startsWith',
  ends_with: 'endsWith',
}

const zodFormat: Read = ({ format, pattern, prefix, suffix, includes }) => {
  if (format === 'regex') return brokenRule('matches', { regex: regexOf(pattern) })
  const rule = typeof format === 'string' && IDENTIFIER.test(format) ? format : CUSTOM
  return brokenRule(FORMATS[rule] ?? rule, { prefix, suffix, includes })
}

/** zod gives an expression as text with slashes, as its own JSON needs it. */
function regexOf(pattern: unknown): unknown {
  return typeof pattern === 'string' ? pattern.replace(/^\/(.*)\/[a-z]*$/su, '$1') : pattern
}

const union = present(({ discriminator, options, errors }) => {
  if (typeof discriminator === 'string') return brokenRule('oneOf', { values: options })
  const parts: readonly unknown[] = Array.isArray(errors) ? errors : []
  const units = parts.flatMap((part) => (isUnit(part) ? [part.unit] : []))
  if (units.length === 0 || units.length < parts.length) return { rule: 'union' }
  // arktype's `boolean` is a union of two constants.
  if (units.every((unit) => typeof unit === 'boolean')) return brokenRule('type', { type: 'boolean' })
  return brokenRule('oneOf', { values: units })
})

function isUnit(part: unknown): part is { readonly unit: unknown } {
  return typeof part === 'object' && part !== null && 'unit' in part
}

const ZOD: Readonly<Record<string, Read>> = {
  invalid_type: isType('expected'),
  invalid_value: present(({ values }) => brokenRule('oneOf', { values })),
  invalid_union: union,
  invalid_format: zodFormat,
  too_small: zodBound('min', 'minimum', 'more'),
  too_big: zodBound('max', 'maximum', 'less'),
  not_multiple_of: withConstant('multipleOf', 'divisor', 'divisor'),
  unrecognized_keys: named('noUnknown'),
}

const ARKTYPE: Readonly<Record<string, Read>> = {
  domain: isType('domain'),
  proto: isType('proto'),
  unit: present(({ unit }) => brokenRule('oneOf', { values: [unit] })),
  union,
  min: arkBound('min', 'more'),
  max: arkBound('max', 'less'),
  after: arkBound('min', 'more'),
  before: arkBound('max', 'less'),
  minLength: withConstant('min', 'min', 'rule'),
  maxLength: withConstant('max', 'max', 'rule'),
  exactLength: withConstant('length', 'length', 'rule'),
  divisor: ({ rule }) => (rule === 1 ? { rule: 'integer' } : brokenRule('multipleOf', { divisor: rule })),
  pattern: withConstant('matches', 'regex', 'rule'),
  predicate: ({ expected }) => ({ rule: expected === 'removed' ? 'noUnknown' : CUSTOM }),
}

const atLeast = withConstant('min', 'min', 'requirement')
const atMost = withConstant('max', 'max', 'requirement')
const exactly = withConstant('length', 'length', 'requirement')

const VALIBOT: Readonly<Record<string, Read>> = {
  picklist: present(named('oneOf')),
  enum: present(named('oneOf')),
  literal: present(named('oneOf')),
  variant: present(named('oneOf')),
  strict_object: (issue, value) =>
    issue['expected'] === 'never' ? { rule: 'noUnknown' } : typeNamed('object')(issue, value),
  min_length: atLeast,
  min_value: atLeast,
  min_size: atLeast,
  min_entries: atLeast,
  max_length: atMost,
  max_value: atMost,
  max_size: atMost,
  max_entries: atMost,
  gt_value: withConstant('min', 'more', 'requirement'),
  lt_value: withConstant('max', 'less', 'requirement'),
  length: exactly,
  size: exactly,
  entries: exactly,
  non_empty: () => brokenRule('min', { min: 1 }),
  safe_integer: named('integer'),
  multiple_of: withConstant('multipleOf', 'divisor', 'requirement'),
  regex: withConstant('matches', 'regex', 'requirement'),
  rfc_email: named('email'),
  iso_date_time: named('datetime'),
  iso_timestamp: named('datetime'),
  value: ({ requirement }) => brokenRule('oneOf', { values: [requirement] }),
  values: ({ requirement }) => brokenRule('oneOf', { values: requirement }),
  not_value: ({ requirement }) => brokenRule('notOneOf', { values: [requirement] }),
  not_values: ({ requirement }) => brokenRule('notOneOf', { values: requirement }),
  check: named(CUSTOM),
  raw_check: named(CUSTOM),
  partial_check: named(CUSTOM),
  custom: named(CUSTOM),
  instance: named(CUSTOM),
}

const RULES: ReadonlyMap<string, Read> = new Map(Object.entries({ ...VALIBOT, ...ARKTYPE, ...ZOD }))
