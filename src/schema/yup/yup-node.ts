import { OwnObject } from '../../support/own-object.ts'

/**
 * The members of a yup 1.x schema that are read here. yup keeps most of them out of its types, and its class types are
 * too costly to constrain by; the version is pinned, and `test/schema/differential.test.ts` holds us to its meaning.
 */
export interface YupNode {
  readonly __isYupSchema__: true
  readonly type: string
  readonly spec: YupSpec
  readonly tests: readonly YupTest[]
  readonly transforms: readonly YupTransform[]
  readonly conditions: readonly unknown[]
  readonly internalTests: Readonly<Record<string, YupTest | undefined>>
  readonly _whitelist: ReadonlySet<unknown>
  readonly _blacklist: ReadonlySet<unknown>
  /** Fields of an object schema: schemas or references. */
  readonly fields?: Readonly<Record<string, unknown>>
  readonly innerType?: YupNode
  _typeCheck(value: unknown): boolean
  resolve(options: object): YupNode
  cast(value: unknown, options: object): unknown
  getDefault(options?: object): unknown
  _validate(
    value: unknown,
    options: object,
    panic: (error: unknown) => void,
    next: (errors: readonly YupIssue[], value: unknown) => void,
  ): void
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
  /** Item schemas of a tuple; the item schema of an array. */
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

/** One failed test of yup's; `inner` is filled when a test made several. */
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

/** What yup calls an object: by tag, so class instances are and functions, dates and arrays are not. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** A plain object, as parsers make them. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || prototype === OwnObject.prototype
}

const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype))

/** True for `constructor`, `__proto__`, `toString` and the other names that every object literal has without owning. */
export function isInheritedName(key: string): boolean {
  return INHERITED.has(key)
}

/** The member of a value, where an inherited `constructor` or `toString` does not count. */
export function ownMember(value: Readonly<Record<string, unknown>>, key: string): unknown {
  return INHERITED.has(key) && !Object.hasOwn(value, key) ? undefined : value[key]
}

/** The schema of a list's item: the same for every item of an array, one for each of a tuple. */
export function itemSchema(schema: YupNode, index: number): unknown {
  return schema.type === 'tuple' ? (schema.spec.types as readonly unknown[])[index] : schema.innerType
}
