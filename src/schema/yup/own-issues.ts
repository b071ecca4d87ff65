import { prepareText } from '../../errors/found-issue.ts'
import { loadYup } from '../../support/lazy-packages.ts'
import { issueAt, type SchemaIssue } from '../invalid.ts'
import type { IssueList } from '../issue-list.ts'
import { once } from '../../support/once.ts'
import { ruleOfTest } from './rule-of-test.ts'
import { showable } from './showable.ts'
import { allowedValues, firstTests, isOfType, type YupNode, type YupTest } from '../../compat/yup.ts'
import { correctedTests } from '../../compat/yup-corrected.ts'

/** Marks an original that equals the cast value, for example the value of a default. */
export const AS_CAST: unique symbol = Symbol('as cast')

/** A value, its original before the cast, and its path. */
export interface Place {
  readonly value: unknown
  readonly original: unknown
  readonly path: string
}

type AddIssues = (place: Place, issues: IssueList) => void
type Params = Readonly<Record<string, unknown>>

/** Runs a plain schema's own tests on a cast value and adds their issues, in yup's order and wording. */
export function ownIssuesOf(schema: YupNode): AddIssues {
  const first = firstTests(schema).map((test) => issueOf(schema, test))
  const ofPresent = firstTests(schema)
    .filter(({ OPTIONS }) => !ABSENCE_OR_TYPE.has(OPTIONS.name))
    .map((test) => issueOf(schema, test))
  const then = correctedTests(schema).map((test) => issueOf(schema, test))
  return (given, issues) => {
    const { value } = given
    const place = given.original === AS_CAST ? { ...given, original: value } : given
    const before = issues.found.length
    const isPresent = value !== undefined && value !== null && isOfType(schema, value)
    for (const add of isPresent ? ofPresent : first) add(place, issues)
    if (issues.found.length > before || issues.isFull) return
    for (const add of then) add(place, issues)
  }
}

/** Tests that a present value of the schema's type passes. */
const ABSENCE_OR_TYPE: ReadonlySet<string | undefined> = new Set(['typeError', 'nullable', 'optionality'])

function issueOf(schema: YupNode, test: YupTest): AddIssues {
  const { OPTIONS } = test
  const rule = once(() => ruleOfTest(schema, test))
  // The part of a test context that yup's own tests use. `createError` only returns the parameters.
  const context = { schema, resolve: (item: unknown) => item, createError: (overrides: object) => overrides }
  const own = OPTIONS.params ?? NO_PARAMS
  const word = wordingOf(schema, OPTIONS.message, own)
  const isFixed = dependsOnPathAlone(OPTIONS.message, own)
  const call = (value: unknown): unknown => OPTIONS.test.call(context, value, context)
  // The test of `oneOf` lists the values anew for each value that it refuses.
  const allowed = allowedValues(schema)
  const refusal = once(() => call(AS_CAST) as object)
  const judge = OPTIONS.name === 'oneOf' ? (value: unknown) => allowed.has(value) || refusal() : call
  let last: SchemaIssue | undefined
  const issueFor = (place: Place, result: unknown): SchemaIssue => {
    if (last?.path === place.path) return last
    const { params } = (result || {}) as { params?: Params }
    const issue = issueAt(place.path, rule(), word(place, params === undefined ? own : { ...own, ...params }))
    if (isFixed) last = prepareText(issue)
    return issue
  }
  return (place, issues) => {
    if (OPTIONS.skipAbsent && (place.value === undefined || place.value === null)) return
    const result = judge(place.value)
    if (result !== true && !issues.isFull) issues.add(issueFor(place, result))
  }
}

const NO_PARAMS: Params = {}

const PLACEHOLDER = /\$\{\s*(\w+)\s*\}/

/** True for a message whose other parameters are constants; the test of `oneOf` adds its values. */
function dependsOnPathAlone(message: unknown, params: Params): boolean {
  if (typeof message !== 'string') return false
  const names = message.split(PLACEHOLDER).filter((_, index) => index % 2 === 1)
  return names.every((name) => name === 'path' || name === 'values' || Object.hasOwn(params, name))
}

/** Formats a message with its parameters, as `ValidationError.formatError` does. */
function wordingOf(
  schema: YupNode,
  message: unknown,
  params: Params,
): (place: Place, extra: Params) => unknown {
  if (typeof message !== 'string')
    return (place, extra) => loadYup().ValidationError.formatError(message, paramsOf(schema, place, extra))
  // Text and names of parameters in turn.
  const [first = '', ...parts] = message.split(PLACEHOLDER)
  const constants = once(() => printedConstants(params))
  return (place, extra) => {
    let text = first
    for (let index = 0; index < parts.length; index += 2) {
      const name = parts[index]!
      if (name === 'path') text += schema.spec.label || place.path || 'this'
      else {
        const constant = extra === params ? constants().get(name) : undefined
        text += constant ?? quoted(schema, name, place, extra)
      }
      text += parts[index + 1]!
    }
    return text
  }
}

/** The printed bounds and patterns of a test, which do not depend on the value. */
function printedConstants(params: Params): ReadonlyMap<string, string> {
  const constants = Object.entries(params).filter(
    ([, value]) => typeof value === 'number' || typeof value === 'string' || value instanceof RegExp,
  )
  return new Map(constants.map(([name, value]) => [name, loadYup().printValue(value)]))
}

function quoted(schema: YupNode, name: string, place: Place, extra: Params): string {
  return loadYup().printValue(Object.hasOwn(extra, name) ? extra[name] : paramsOf(schema, place, extra)[name])
}

function paramsOf({ spec }: YupNode, place: Place, extra: Params): Params {
  return {
    value: showable(place.value),
    originalValue: place.original === place.value ? showable(place.value) : showable(place.original),
    label: spec.label,
    path: place.path,
    originalPath: place.path,
    spec,
    disableStackTrace: spec.disableStackTrace,
    ...extra,
  }
}
