import { StartupError, StartupErrors } from '../errors/startup-error.ts'
import { bytes, isSize, type Size } from './bytes.ts'
import { describeValue, isObject } from './describe-value.ts'
import { isTimeout, milliseconds } from './duration.ts'
import { looksLikeGuard } from './guard-names.ts'
import { didYouMean } from './nearest.ts'

/** Kinds of option values, with the words for messages. */
const KINDS = {
  string: ['a string', (value) => typeof value === 'string'],
  number: ['a number', (value) => typeof value === 'number'],
  boolean: ['a boolean', (value) => typeof value === 'boolean'],
  function: ['a function', (value) => typeof value === 'function'],
  object: ['an object', isObject],
  clock: ['an object with the method now', (value) => isObject(value) && typeof value['now'] === 'function'],
  list: ['a list', (value) => Array.isArray(value)],
  strings: ['a list of strings', (value) => Array.isArray(value) && value.every(isString)],
  servers: [
    "a list of objects such as { url: 'https://api.example.com' }",
    (value) => Array.isArray(value) && value.every((each) => isObject(each) && isString(each['url'])),
  ],
  false: ['false', (value) => value === false],
  count: ['a whole number from 1', (value) => Number.isInteger(value) && (value as number) >= 1],
  size: ["bytes above 0, or a size such as '1mb'", (value) => isSize(value) && bytes(value as Size) > 0],
  duration: ["seconds, or a duration such as '15m'", (value) => milliseconds(value) >= 0],
  period: ["seconds above 0, or a duration such as '15m'", (value) => milliseconds(value) > 0],
  delay: ["seconds, or a duration such as '5s', up to 24 days", isTimeout],
  timeout: [
    "seconds above 0, or a duration such as '5s', up to 24 days",
    (value) => milliseconds(value) > 0 && isTimeout(value),
  ],
  anything: ['anything', () => true],
} as const satisfies Record<string, readonly [string, (value: unknown) => boolean]>

/**
 * Kind of value that an option accepts: `boolean`, `strings` (a list of them), `false` (that value alone), `duration`
 * (`period` without 0; `delay` for a timer, `timeout` without 0), `anything` …
 */
export type OptionKind = keyof typeof KINDS

/** The rule for one option. */
export interface OptionRule {
  /** The allowed kind or kinds. Null is allowed for `anything` only. */
  readonly is: OptionKind | readonly OptionKind[]
  /**
   * The option protects something, so a key with the value `undefined` is an error: `{ auth: process.env.GUARD }` must
   * not remove the guard. Any other option may be `undefined`, which means the same as omitting it.
   */
  readonly guard?: true
  /** The option has no default: omitting it is an error too. */
  readonly required?: true
  /** Rules for the keys of an object value. */
  readonly keys?: OptionRules
}

/** A rule for each option, by name; a kind or list of kinds is short for `{ is: … }`. */
export type OptionRules = Readonly<Record<string, OptionKind | readonly OptionKind[] | OptionRule>>

/** Subject of the check: the call that accepts the options, and a rule for each option that `Options` has. */
export interface OptionChecks<Options extends object> {
  /** The call, for messages: `createRouter()`. */
  readonly of: string
  readonly keys: { readonly [Key in keyof Required<Options>]: OptionRules[string] }
  /** The brick with these options, if any. */
  readonly brick?: string
  /**
   * One code for every finding, instead of `MORTAR_OPTION_UNKNOWN`, `MORTAR_OPTION_TYPE`, `MORTAR_OPTION_UNDEFINED`.
   */
  readonly code?: string
  /** Remedies for unknown options that belong elsewhere, by name. */
  readonly elsewhere?: Readonly<Record<string, string>>
}

/**
 * Checks an options object at run time: unknown keys (with "did you mean"), values of another kind, and a guard that is
 * `undefined`. Messages never contain the value, since it may be a secret. Third-party bricks can use it too.
 * @throws StartupError `MORTAR_OPTION_UNKNOWN`, `MORTAR_OPTION_TYPE` or `MORTAR_OPTION_UNDEFINED`; StartupErrors for
 * several.
 */
export function checkOptions<Options extends object>(
  options: Options | undefined,
  { of, keys, brick, code, elsewhere = {} }: OptionChecks<Options>,
): void {
  if (isContext(options)) throw notCalled(of, brick)
  const findings = findingsOf(options === undefined ? {} : options, keys, of)
  const errors = findings.map(
    (finding) =>
      new StartupError(finding.found, {
        code: code ?? finding.code,
        remedy: elsewhereOf(finding, elsewhere) ?? finding.remedy,
        ...(brick === undefined ? {} : { brick }),
      }),
  )
  if (errors.length === 1) throw errors[0]!
  if (errors.length > 1) throw new StartupErrors(`${errors.length} options of ${of} are wrong.`, errors)
}

/** True for the `ctx` of a request: the function is middleware by mistake. */
function isContext(options: object | undefined): boolean {
  return typeof options === 'object' && options !== null && 'redirect' in options && 'koa' in options
}

function notCalled(of: string, brick: string | undefined): StartupError {
  const call = of.replace('()', '')
  return new StartupError(
    `${call} was passed to use() as a function, and is called with ctx as middleware.`,
    {
      code: 'MORTAR_USE',
      remedy: `Call it: app.use(${call}({ … })).`,
      ...(brick === undefined ? {} : { brick }),
    },
  )
}

function elsewhereOf({ name }: Finding, elsewhere: Readonly<Record<string, string>>): string | undefined {
  return name !== undefined && Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined
}

/** The error for the value of an option that its kind does not tell: `wrongOption('keys', 'is …', 'Write …')`. */
export function wrongOption(option: string, found: string, remedy: string): StartupError {
  return new StartupError(`The option ${option} ${found}.`, { code: 'MORTAR_OPTION', remedy })
}

interface Finding {
  /** Name of the option if it is unknown. */
  readonly name?: string
  readonly code: string
  readonly found: string
  readonly remedy: string
}

function findingsOf(options: unknown, rules: OptionRules, of: string): Finding[] {
  // A Map does not store its entries as keys: `new Map([['auth', true]])` would guard nothing.
  if (!isObject(options) || Symbol.iterator in options)
    return [
      wrongType(`The options of ${of} are ${describeValue(options)}, not an object.`, 'Pass an object.'),
    ]
  return [
    ...Object.keys(options)
      .filter((name) => !Object.hasOwn(rules, name))
      .map((name) => unknown(name, rules, of)),
    ...Object.keys(rules).flatMap((name) => {
      const rule = ruleOf(rules[name]!)
      return name in options || rule.required === true ? faultsOf(name, options[name], rule, of) : []
    }),
  ]
}

function ruleOf(rule: OptionRules[string]): OptionRule {
  return typeof rule === 'object' && 'is' in rule ? rule : { is: rule }
}

function faultsOf(name: string, value: unknown, rule: OptionRule, of: string): Finding[] {
  const { is, guard = false, required = false, keys } = rule
  if ((value === undefined || value === null) && (guard || required)) return [absent(name, value, rule, of)]
  if (value === undefined) return []
  if (keys !== undefined && isObject(value)) return findingsOf(value, keys, `${name} in ${of}`)
  const kinds = [is].flat()
  if (kinds.some((kind) => KINDS[kind][1](value))) return []
  const expected = kinds.map((kind) => KINDS[kind][0]).join(' or ')
  return [
    wrongType(
      `The option ${name} of ${of} is ${describeValue(value)}, not ${expected}.`,
      `Give ${name} ${expected}.`,
    ),
  ]
}

function unknown(name: string, rules: OptionRules, of: string): Finding {
  const names = Object.keys(rules)
  const remedy = didYouMean(name, names, `The options are ${names.join(', ')}.`)
  return {
    code: 'MORTAR_OPTION_UNKNOWN',
    found: `Unknown option '${name}' of ${of}.`,
    name,
    remedy: 'auth' in rules && looksLikeGuard(name) ? "Did you mean 'auth'?" : remedy,
  }
}

function absent(name: string, value: undefined | null, { required }: OptionRule, of: string): Finding {
  return {
    code: 'MORTAR_OPTION_UNDEFINED',
    found: `The option ${name} of ${of} is ${value}, ${required ? 'and has no default' : 'which would guard nothing'}.`,
    remedy: required ? `Give ${name} a value.` : `Give ${name} a value, or remove the key.`,
  }
}

function wrongType(found: string, remedy: string): Finding {
  return { code: 'MORTAR_OPTION_TYPE', found, remedy }
}

function isString(value: unknown): boolean {
  return typeof value === 'string'
}
