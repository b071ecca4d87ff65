import { OwnObject } from '../../support/own-object.ts'
import { isInheritedName, isObject, type YupIssue, type YupNode } from './yup-node.ts'

/*
 * yup runs every test of every member, whatever `abortEarly` says, and hands their errors on as the arguments of one
 * call: an array of 200,000 wrong items blocks the process and ends in a RangeError. It also reads members by name, so
 * that a missing `constructor` is a function. Both can only be changed inside yup: the two methods below are replaced on
 * the prototype of its schemas, and do what yup's do unless a validation of ours carries a `Budget` in its options.
 * `test/schema/bounds.test.ts` and the differential test check this.
 */

const BUDGET = 'mortar:budget'

/** Remaining budget of one validation. */
interface Budget {
  /** Issues that it may still find. */
  left: number
  /** Arrays that failed a test of yup's for lists, such as their length; their items are not validated. */
  readonly refused: WeakSet<object>
}

type Next = (errors: readonly YupIssue[], value: unknown) => void
type Panic = (error: unknown, value: unknown) => void
type Test = (
  args: object,
  panic: (error: unknown) => void,
  next: (error: YupIssue | readonly YupIssue[] | null) => void,
) => void

interface Run {
  readonly tests: readonly Test[]
  readonly value: unknown
  readonly originalValue: unknown
  /** Present for a schema's own tests, absent for those of its members. */
  readonly path?: string
  readonly options: { readonly [BUDGET]?: Budget }
}

interface NestedTest {
  readonly key?: string
  readonly index?: number
  readonly parent: object
  readonly originalParent: unknown
  readonly options: { readonly [BUDGET]?: Budget }
}

interface BaseSchema {
  runTests(this: YupNode, run: Run, panic: Panic, next: Next): void
  asNestedTest(this: YupNode, config: NestedTest): Test
}

const bounded = new WeakSet<object>()

/** Returns options for yup's `_validate` that stop it after `limit` issues. */
export function boundedOptions(schema: YupNode, limit: number): object {
  boundTestsOf(schema)
  return { [BUDGET]: { left: limit, refused: new WeakSet() } satisfies Budget }
}

function boundTestsOf(schema: YupNode): void {
  let base = schema as unknown as BaseSchema
  while (!Object.hasOwn(base, 'runTests')) base = Object.getPrototypeOf(base) as BaseSchema
  if (bounded.has(base)) return
  bounded.add(base)
  const { runTests, asNestedTest } = base
  base.runTests = function (run, panic, next) {
    const budget = run.options[BUDGET]
    if (budget === undefined) runTests.call(this, run, panic, next)
    else runWithin(budget, { schema: this, run }, { panic, next })
  }
  base.asNestedTest = function (config) {
    if (config.options[BUDGET] === undefined) return asNestedTest.call(this, config)
    // Made when it runs: most items of a hostile array are never reached.
    return (args, panic, next) => asNestedTest.call(this, withOwnMember(config))(args, panic, next)
  }
}

const NONE: readonly Test[] = []

function runWithin(
  budget: Budget,
  { schema, run }: { readonly schema: YupNode; readonly run: Run },
  { panic, next }: { readonly panic: Panic; readonly next: Next },
): void {
  const { originalValue, path, options } = run
  const value = isEndless(schema, run.value) ? Number.NaN : run.value
  const tests = isRefused(run, budget) ? NONE : run.tests
  const errors: YupIssue[] = []
  let isSettled = false
  // One more than the tests under way, so that nothing settles before all were started.
  let waiting = 1
  function panicOnce(error: unknown): void {
    if (!isSettled) panic(error, value)
    isSettled = true
  }
  function finish(found: YupIssue | readonly YupIssue[] | null): void {
    if (found) addFound(found, errors, budget)
    waiting -= 1
    if (waiting > 0 || isSettled) return
    isSettled = true
    next(errors, value)
  }
  const args = { value, originalValue, path, options, schema }
  for (let index = 0; index < tests.length && budget.left > 0; index++) {
    waiting += 1
    tests[index]!(args, panicOnce, finish)
  }
  finish(null)
}

/** An infinite number, which is treated like NaN. */
function isEndless({ type }: YupNode, value: unknown): boolean {
  return type === 'number' && (value === Infinity || value === -Infinity)
}

/** True for the run over the items of an array that was refused as a whole. */
function isRefused(run: Run, { refused }: Budget): boolean {
  return Array.isArray(run.value) && !('path' in run) && refused.has(run.value)
}

function addFound(found: YupIssue | readonly YupIssue[], errors: YupIssue[], budget: Budget): void {
  if (isList(found)) {
    // Counted where it was found. No spread: V8 takes a limited number of arguments.
    for (const error of found) errors.push(error)
    return
  }
  budget.left -= Math.max(1, found.inner?.length ?? 0)
  if (Array.isArray(found.value) && LIST_TESTS.has(found.type ?? '')) budget.refused.add(found.value)
  errors.push(found)
}

const LIST_TESTS = new Set(['min', 'max', 'length', 'oneOf', 'notOneOf'])

function isList(found: YupIssue | readonly YupIssue[]): found is readonly YupIssue[] {
  return Array.isArray(found)
}

/** yup reads `parent[key]`, which for `constructor` finds what every object inherits. */
function withOwnMember(config: NestedTest): NestedTest {
  const { key, parent, originalParent } = config
  if (key === undefined || !isInheritedName(key)) return config
  return { ...config, parent: ownOnly(parent, key), originalParent: ownOnly(originalParent, key) }
}

function ownOnly<T>(parent: T, key: string): T {
  if (!isObject(parent) || Object.hasOwn(parent, key)) return parent
  return Object.assign(new OwnObject(), parent)
}
