import { OwnObject } from '../support/own-object.ts'

/*
 * All uses of yup beyond its documented interface, together with `yup-functions.ts`, `yup-bounds.ts`,
 * `yup-corrected.ts` and `yup-url.ts`. `yup-self-test.ts` checks this list at the first use of a schema. If a part is
 * missing, yup itself validates, and the functions below return what its documented interface knows. The code relies on
 * these parts of yup 1.7:
 *
 * 1. `_whitelist` and `_blacklist`: the values of `oneOf` and `notOneOf`, as sets.
 * 2. `internalTests`: the tests that run first, by name (`typeError`, `nullable`, `optionality`, `whiteList`,
 *    `blacklist`).
 * 3. `conditions`: the list that `when` fills.
 * 4. `_typeCheck(value)`: whether a cast value has the schema's type.
 * 5. `_validate(value, options, panic, next)`: calls back once, synchronously unless a test is asynchronous.
 * 6. `builder` and `_resolve` of a lazy schema, and `__isYupRef` of a reference.
 * 7. `runTests` and `asNestedTest` on the prototype of schemas, which `_validate` calls on `this` and on its members.
 * 8. The source text of the test and transform functions that yup's own methods add: equal for each use of a method.
 * 9. `__validating` in the options of `cast`, which leaves strict members uncast.
 * 10. `OPTIONS` of a test: name, message, params, `skipAbsent` and the function itself.
 */

/** The members of a yup schema that the framework reads. yup's own class types are too costly to constrain by. */
export interface YupNode {
  readonly __isYupSchema__: true
  readonly type: string
  readonly spec: YupSpec
  readonly tests: readonly YupTest[]
  readonly transforms: readonly YupTransform[]
  /** Fields of an object schema: schemas or references. */
  readonly fields?: Readonly<Record<string, unknown>>
  readonly innerType?: YupNode
  resolve(options: object): YupNode
  cast(value: unknown, options: object): unknown
  getDefault(options?: object): unknown
  isType(value: unknown): boolean
  describe(): { readonly oneOf?: readonly unknown[]; readonly notOneOf?: readonly unknown[] }
  validate(value: unknown, options: object): Promise<unknown>
}

/** The private members of a yup schema. */
interface PrivateMembers {
  readonly conditions?: readonly unknown[]
  readonly internalTests?: Readonly<Record<string, YupTest | undefined>>
  readonly _whitelist?: ReadonlySet<unknown>
  readonly _blacklist?: ReadonlySet<unknown>
  readonly builder?: LazyBuilder
  readonly _resolve?: (value: unknown, options: object) => YupNode
  _typeCheck?: (value: unknown) => boolean
  _validate(
    value: unknown,
    options: object,
    panic: (error: unknown) => void,
    next: (errors: readonly YupIssue[], value: unknown) => void,
  ): void
}

/** True if a schema has a private member of this name. */
export function hasPrivate(schema: YupNode, name: keyof PrivateMembers): boolean {
  return privateOf(schema)[name] !== undefined
}

function privateOf(schema: YupNode): PrivateMembers {
  return schema as unknown as PrivateMembers
}

/** The function of a lazy schema. */
export type LazyBuilder = (value: unknown) => unknown

/** Returns the function of a lazy schema. */
export function builderOf(schema: YupNode): LazyBuilder | undefined {
  return privateOf(schema).builder
}

/** Returns the values of `oneOf`. */
export function allowedValues(schema: YupNode): ReadonlySet<unknown> {
  return privateOf(schema)._whitelist ?? new Set(schema.describe().oneOf)
}

/** Returns the values of `notOneOf`. */
export function refusedValues(schema: YupNode): ReadonlySet<unknown> {
  return privateOf(schema)._blacklist ?? new Set(schema.describe().notOneOf)
}

/** True for a schema with `oneOf` or `notOneOf`. */
export function hasLists(schema: YupNode): boolean {
  return allowedValues(schema).size + refusedValues(schema).size > 0
}

/** True for a schema with `when`. */
export function isConditional(schema: YupNode): boolean {
  return (privateOf(schema).conditions ?? []).length > 0
}

/** Returns options of `cast` for a value of a schema: those that yup itself passes when it validates. */
export function castOptions({ type }: YupNode): object {
  return { assert: false, __validating: type === 'object' }
}

/** Returns the function that checks if a cast value has the schema's type. */
export function typeCheckOf(schema: YupNode): (value: unknown) => boolean {
  return privateOf(schema)._typeCheck ?? ((value) => schema.isType(value))
}

/** True if a cast value has the schema's type. */
export function isOfType(schema: YupNode, value: unknown): boolean {
  // The check of a tuple reads the schema by `this`.
  return typeCheckOf(schema).call(schema, value)
}

/** Returns the tests that yup runs first: type, null, undefined, allowed and refused values. */
export function firstTests(schema: YupNode): readonly YupTest[] {
  return Object.values(privateOf(schema).internalTests ?? {}).filter((test) => test !== undefined)
}

/** Returns which of `oneOf` and `notOneOf` still have a test, because a later call can remove it. */
export function listTests(schema: YupNode): { readonly allowed: boolean; readonly refused: boolean } {
  const { whiteList, blacklist } = privateOf(schema).internalTests ?? {}
  return { allowed: whiteList !== undefined, refused: blacklist !== undefined }
}

/** The callbacks for the end of a validation by yup. */
export interface YupEnd {
  panic(error: unknown): void
  next(errors: readonly YupIssue[], value: unknown): void
}

/** Validates a value by a resolved schema; calls `end` once, synchronously unless a test is asynchronous. */
export function validateByPrivate(schema: YupNode, value: unknown, options: object, end: YupEnd): void {
  privateOf(schema)._validate(
    value,
    options,
    (error) => end.panic(error),
    (errors, cast) => end.next(errors, cast),
  )
}

export interface YupSpec {
  readonly strip: boolean
  readonly strict: boolean
  readonly recursive: boolean
  readonly nullable: boolean
  readonly optional: boolean
  readonly coerce: boolean
  readonly disableStackTrace: boolean
  readonly noUnknown?: boolean
  readonly default?: unknown
  readonly label?: string
  readonly meta?: Readonly<Record<string, unknown>>
  /** Item schemas of a tuple, or the item schema of an array. */
  readonly types?: unknown
}

export interface YupTest {
  readonly OPTIONS: {
    readonly name?: string
    readonly message: unknown
    readonly params?: Readonly<Record<string, unknown>>
    readonly skipAbsent?: boolean
    readonly test: (this: unknown, value: unknown, context: unknown) => unknown
  }
}

export type YupTransform = (this: YupNode, value: unknown, original: unknown, schema: YupNode) => unknown

/** One failed test of yup. `inner` has the errors of a test with several. */
export interface YupIssue {
  readonly name: string
  readonly path?: string
  readonly message: unknown
  /** Name of the failed test. */
  readonly type?: string
  readonly value?: unknown
  readonly inner?: readonly YupIssue[]
}

/** True for a yup schema of any copy of yup, lazy ones included. */
export function isYup(value: unknown): value is YupNode {
  return (
    typeof value === 'object' &&
    value !== null &&
    '__isYupSchema__' in value &&
    value.__isYupSchema__ === true
  )
}

/** True for `yup.ref(…)`. */
export function isRef(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '__isYupRef' in value && value.__isYupRef === true
}

/**
 * True for an object by yup's rule, which compares tags: class instances are objects, functions, dates and arrays are
 * not.
 */
export function isObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** True for a plain object, as parsers create it. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || prototype === OwnObject.prototype
}

const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype))

/** True for `constructor`, `__proto__`, `toString` and other names that every object literal inherits. */
export function isInheritedName(key: string): boolean {
  return INHERITED.has(key)
}

/** Returns a member of a value, ignoring inherited members such as `constructor` and `toString`. */
export function ownMember(value: Readonly<Record<string, unknown>>, key: string): unknown {
  return INHERITED.has(key) && !Object.hasOwn(value, key) ? undefined : value[key]
}

/** Returns the schemas of all members: fields, and items of an array or a tuple. */
export function memberSchemas({ fields = {}, innerType, spec }: YupNode): readonly unknown[] {
  // A lazy schema has no `spec.types`.
  const items: readonly unknown[] = Array.isArray(spec?.types) ? spec.types : []
  return [...Object.values(fields), innerType, ...items]
}

/** Returns the schema of an item: one for all items of an array, one per item of a tuple. */
export function itemSchema(schema: YupNode, index: number): unknown {
  return schema.type === 'tuple' ? (schema.spec.types as readonly unknown[])[index] : schema.innerType
}
