import { OwnObject } from '../support/own-object.ts'
import { isInheritedName, isObject, isYup, type YupIssue, type YupNode, type YupTest } from './yup.ts'
import { correctedTests, correctedTransforms } from './yup-corrected.ts'

/*
 * yup runs every test of every member even with `abortEarly`, and passes their errors as the arguments of one call: an
 * array of 200,000 invalid items blocks the process and causes a RangeError. It also reads inherited members, so that a
 * missing `constructor` is a function. Both can only be changed inside yup, so schemas are validated by copies whose
 * prototype overrides two methods. `test/schema/bounds.test.ts` and the differential test check this.
 */

const BUDGET = 'mortar:budget'

/** Remaining budget of one validation. */
interface Budget {
  /** Remaining issues before the validation stops. */
  left: number
  /** Arrays that failed a test of the whole list, such as its length; their items are not validated. */
  readonly refused: WeakSet<object>
}

type Next = (errors: readonly YupIssue[], value: unknown) => void
type Panic = (error: unknown, value: unknown) => void
type Found = YupIssue | readonly YupIssue[] | null
/** `OPTIONS` is absent for the tests of members. */
type Test = ((args: object, panic: (error: unknown) => void, next: (error: Found) => void) => unknown) &
  Partial<YupTest>

interface Run {
  readonly tests: readonly Test[]
  readonly value: unknown
  readonly originalValue: unknown
  /** Set for a schema's own tests, absent for the tests of its members. */
  readonly path?: string
  readonly options?: { readonly [BUDGET]?: Budget }
}

interface NestedTest {
  readonly key?: string
  readonly index?: number
  readonly parent: object
  readonly originalParent: unknown
  readonly options?: { readonly [BUDGET]?: Budget }
}

interface Methods {
  resolve(this: YupNode, options: object): YupNode
  runTests(this: YupNode, run: Run, panic: Panic, next: Next): void
  asNestedTest(this: YupNode, config: NestedTest): Test
}

/** Returns options that stop the validation by a bounded schema after `limit` issues. */
export function boundedOptions(limit: number): object {
  return { [BUDGET]: { left: limit, refused: new WeakSet() } satisfies Budget }
}

/** Copies by original. A copy maps to itself. */
const copies = new WeakMap<YupNode, YupNode>()

/**
 * Returns a copy of a schema with the same results that stops after the issues of `boundedOptions`, treats inherited
 * members as absent, and matches `string().url()` in linear time. yup itself is not changed.
 */
export function boundedSchema(schema: YupNode): YupNode {
  const known = copies.get(schema)
  if (known !== undefined) return known
  const copy = copyOf(schema)
  copies.set(schema, copy).set(copy, copy)
  return copy
}

type Changed = { -readonly [Key in keyof YupNode]: YupNode[Key] } & { _resolve?: unknown }

function copyOf(schema: YupNode): YupNode {
  const prototype = Object.getPrototypeOf(schema) as object
  if (schema.type === 'lazy') {
    const { _resolve } = schema as YupNode & { _resolve?(value: unknown, options: object): YupNode }
    if (_resolve === undefined) return schema
    // yup defines it as an arrow function on the instance.
    const bounded = (value: unknown, options: object): YupNode => boundedSchema(_resolve(value, options))
    return Object.assign(Object.create(prototype), schema, { _resolve: bounded }) as YupNode
  }
  const copy = Object.assign(Object.create(boundedPrototype(prototype)), schema) as Changed
  copy.tests = correctedTests(schema)
  copy.transforms = correctedTransforms(schema)
  if (schema.fields !== undefined) copy.fields = mapMembers(schema.fields)
  if (schema.innerType !== undefined) copy.innerType = boundedSchema(schema.innerType)
  if (Array.isArray(schema.spec.types))
    copy.spec = { ...schema.spec, types: schema.spec.types.map(boundedMember) }
  return copy
}

function boundedMember(member: unknown): unknown {
  return isYup(member) ? boundedSchema(member) : member
}

function mapMembers(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  // Keeps yup's prototype, because a field may be named `__proto__`.
  const mapped = Object.create(Object.getPrototypeOf(fields) as object) as Record<string, unknown>
  for (const [key, field] of Object.entries(fields))
    Object.defineProperty(mapped, key, {
      value: boundedMember(field),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  return mapped
}

const prototypes = new WeakMap<object, object>()

/** Creates a prototype between a class of yup and its bounded copies. Clones of the copies inherit it. */
function boundedPrototype(original: object): object {
  const known = prototypes.get(original)
  if (known !== undefined) return known
  const bounded = Object.assign(Object.create(original), methodsOver(original as Methods)) as object
  prototypes.set(original, bounded).set(bounded, bounded)
  return bounded
}

function methodsOver({ resolve, runTests, asNestedTest }: Methods): Methods {
  return {
    resolve(options) {
      const resolved = resolve.call(this, options)
      // `when` may return a schema of the application, or use its members.
      return resolved === this ? this : boundedSchema(resolved)
    },
    // Without a budget, the version of yup may be an unknown one, with other arguments.
    runTests(...given) {
      const [run, panic, next] = given
      const budget = run.options?.[BUDGET]
      if (budget === undefined) return runTests.apply(this, given)
      runWithin(budget, { schema: this, run }, { panic, next })
    },
    asNestedTest(...given) {
      const [config, ...rest] = given
      if (config.options?.[BUDGET] === undefined)
        return asNestedTest.call(this, withOwnMember(config), ...rest)
      // Created when it runs, because most items of a hostile array are never reached.
      return (args, panic, next) => asNestedTest.call(this, withOwnMember(config))(args, panic, next)
    },
  }
}

/** A test that failed, and its schema. */
export interface FailedTest {
  readonly schema: YupNode
  readonly test: YupTest
}

const failed = new WeakMap<YupIssue, FailedTest>()

/** Returns the test that an error of a bounded schema came from; undefined for an error that a test passed on. */
export function failedTestOf(error: YupIssue): FailedTest | undefined {
  return failed.get(error)
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
  // One more than the running tests, so that nothing settles before all have started.
  let waiting = 1
  function panicOnce(error: unknown): void {
    if (!isSettled) panic(error, value)
    isSettled = true
  }
  function finish(found: Found, test?: Test): void {
    if (found) addFound(found, errors, budget)
    if (found && !isList(found) && test?.OPTIONS) failed.set(found, { schema, test: test as YupTest })
    waiting -= 1
    if (waiting > 0 || isSettled) return
    isSettled = true
    next(errors, value)
  }
  const args = { value, originalValue, path, options, schema }
  for (let index = 0; index < tests.length && budget.left > 0; index++) {
    waiting += 1
    const test = tests[index]!
    const running = test(args, panicOnce, (found) => finish(found, test))
    // After an asynchronous test yup itself may throw: a message that cannot be made, or an error that cannot be read.
    if (running instanceof Promise) running.catch((error: unknown) => panic(error, value))
  }
  finish(null)
}

/** True for an infinite number, which is treated like NaN. */
function isEndless({ type }: YupNode, value: unknown): boolean {
  return type === 'number' && (value === Infinity || value === -Infinity)
}

/** True for a run over the items of an array that was refused as a whole. */
function isRefused(run: Run, { refused }: Budget): boolean {
  return Array.isArray(run.value) && !('path' in run) && refused.has(run.value)
}

function addFound(found: YupIssue | readonly YupIssue[], errors: YupIssue[], budget: Budget): void {
  if (isList(found)) {
    // Already counted where it was found. No spread: V8 limits the number of arguments.
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

/** Hides inherited members: yup reads `parent[key]`, which for `constructor` finds the inherited function. */
function withOwnMember(config: NestedTest): NestedTest {
  const { key, parent, originalParent } = config
  if (key === undefined || !isInheritedName(key)) return config
  return { ...config, parent: ownOnly(parent, key), originalParent: ownOnly(originalParent, key) }
}

function ownOnly<T>(parent: T, key: string): T {
  if (!isObject(parent) || Object.hasOwn(parent, key)) return parent
  return Object.assign(new OwnObject(), parent)
}
