import { brokenRule, CUSTOM } from '../broken-rule.ts'
import type { BrokenRule } from '../invalid.ts'
import { isFileSchema } from './file.ts'
import { allowedValues, isRef, refusedValues, type YupNode, type YupTest } from '../../compat/yup.ts'

type Params = Readonly<Record<string, unknown>>
type Read = (schema: YupNode, params: Params, test: YupTest['OPTIONS']['test']) => BrokenRule

const named = (rule: string) => (): BrokenRule => ({ rule })

/** The tests of yup whose name or parameters differ from those of an issue. Their expressions are an implementation. */
const RULES: Readonly<Record<string, Read>> = {
  typeError: (schema) => brokenRule('type', { type: typeOf(schema) }),
  nullable: named('required'),
  optionality: named('required'),
  oneOf: (schema) => brokenRule('oneOf', { values: constantsOf(allowedValues(schema)) }),
  notOneOf: (schema) => brokenRule('notOneOf', { values: constantsOf(refusedValues(schema)) }),
  'is-value': (_, { value }) => brokenRule('oneOf', { values: [value === 'true'] }),
  exact: named('noUnknown'),
  email: named('email'),
  url: named('url'),
  uuid: named('uuid'),
  datetime: named('datetime'),
  datetime_offset: named('datetime'),
  datetime_precision: named('datetime'),
  string_case: (_schema, _params, test) => ({
    rule: test.call(undefined, 'a', undefined) === true ? 'lowercase' : 'uppercase',
  }),
}

/** Returns the rule of a failed yup test, in the words of `docs/schemas.md`. Other names are kept with their constants. */
export function ruleOfTest(schema: YupNode, { OPTIONS }: YupTest): BrokenRule {
  const { name = CUSTOM, params = {}, test } = OPTIONS
  // An expression without a name of its own is `matches`, also of `matches(…, { excludeEmptyString })`.
  return ruleOfName(name)?.(schema, params, test) ?? brokenRule(name, params)
}

/** Returns the rule of a failed test of which only the name is known. */
export function ruleNamed(name: string | undefined): BrokenRule {
  if (name === 'typeError') return { rule: 'type' }
  if (name === 'nullable' || name === 'optionality') return { rule: 'required' }
  return { rule: name ?? CUSTOM }
}

function ruleOfName(name: string): Read | undefined {
  return Object.hasOwn(RULES, name) ? RULES[name] : undefined
}

function typeOf(schema: YupNode): string | undefined {
  if (isFileSchema(schema)) return 'file'
  if (schema.type === 'tuple') return 'array'
  return schema.type === 'mixed' ? undefined : schema.type
}

/** The values of a list; undefined if one of them is the value of another field. */
function constantsOf(values: ReadonlySet<unknown>): readonly unknown[] | undefined {
  return [...values].some(isRef) ? undefined : [...values].filter((value) => value !== undefined)
}
