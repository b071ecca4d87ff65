import { isStrict, memberMode, type CompileMember, type FastNode, type Mode } from './fast-node.ts'
import { isInheritedName, ownMember, type YupNode } from './yup-node.ts'

/** What the ways of judging an object need to know of its schema. */
export interface ObjectPlan {
  readonly schema: YupNode
  readonly keys: readonly string[]
  readonly members: readonly FastNode[]
  readonly known: ReadonlySet<string>
  /** Reads a declared member of a value. */
  readonly read: typeof ownMember
  /** Unknown keys are dropped. */
  readonly strips: boolean
  /** Unknown keys are an issue. */
  readonly refuses: boolean
  readonly strict: boolean
}

/** Reads an object schema; undefined when a member does not compile. */
export function planOf(schema: YupNode, mode: Mode, compile: CompileMember): ObjectPlan | undefined {
  const strict = isStrict(schema, mode)
  const entries = Object.entries(schema.fields ?? {})
  const members = entries.map(([, field]) => compile(field, memberMode(schema, mode)))
  if (!members.every((member) => member !== undefined)) return undefined
  const keys = entries.map(([key]) => key)
  const names = schema.tests.map((test) => test.OPTIONS.name)
  const refuses = names.includes('exact') || (names.includes('noUnknown') && schema.spec.noUnknown === true)
  const strips = schema.spec.noUnknown === true && !strict
  const read = keys.some(isInheritedName) ? ownMember : anyMember
  return { schema, keys, members, known: new Set(keys), read, strips, refuses, strict }
}

const anyMember: typeof ownMember = (value, key) => value[key]
