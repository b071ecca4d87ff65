import { isoText, readIsoDate } from '../../support/iso-date.ts'
import { ownJson } from './json-view.ts'
import { compileLeaf } from './fast-leaf.ts'
import { FAIL, type Mode } from './fast-node.ts'
import { generate } from './generate.ts'
import { jsonString } from '../../support/json-string.ts'
import {
  type TextMember,
  type TextNode,
  type Write,
  hasToJson,
  isMembers,
  listSource,
  objectSource,
} from './text-source.ts'
import { isPlain } from './known.ts'
import { lengthLimits } from './passes.ts'
import { NOT_QUICK, quickOf } from './quick.ts'
import { hasLists, isYup, ownMember, type YupNode } from '../../compat/yup.ts'

/**
 * Compiles a plain schema to a function that validates a value and writes its declared keys in the order of
 * declaration; undefined if a part of the schema is not plain. `test/schema/text.test.ts` compares the text with that
 * of the slow path.
 */
export function compileText(schema: unknown): TextNode | undefined {
  if (!isYup(schema) || !isPlain(schema)) return undefined
  const writer = compileType(schema)
  // Free-form values may contain functions and symbols, which JSON leaves out.
  const node = writer && { ...writer, always: schema.spec.optional === false && schema.type !== 'mixed' }
  const { default: fallback } = schema.spec
  if (node === undefined || fallback === undefined) return node
  const { write } = node
  return { ...node, write: (value) => write(value === undefined ? schema.getDefault() : value) }
}

type Writer = Omit<TextNode, 'always'>

function compileType(schema: YupNode): Writer | undefined {
  if (schema.type === 'object') return compileObject(schema)
  if (schema.type === 'array') return compileArray(schema)
  return schema.type === 'tuple' ? undefined : compileValue(schema)
}

/** Mode of response values, which are never cast. */
const AS_IT_IS: Mode = { text: false, strict: true, heedsStrict: true, rootIsObject: false }

function compileValue(schema: YupNode): Writer {
  const { run } = compileLeaf(schema, AS_IT_IS)
  if (schema.type === 'date') return { quick: NOT_QUICK, write: dateWriter(run) }
  return { quick: quickOf(schema, false), write: (value) => freeText(run(ownJson(value))) }
}

function dateWriter(run: (value: unknown) => unknown): Write {
  return (value) => {
    if (value === undefined || value === null) return freeText(run(value))
    const date = readIsoDate(value)
    return date === undefined || run(date) === FAIL ? FAIL : `"${isoText(date)}"`
  }
}

/** Writes any value as JSON. For bigints and cycles, on which JSON throws, the slow path makes the error. */
function freeText(value: unknown): ReturnType<Write> {
  if (value === FAIL) return FAIL
  if (value === null) return 'null'
  if (typeof value === 'string') return jsonString(value)
  try {
    return JSON.stringify(value)
  } catch {
    return FAIL
  }
}

/** Returns `undefined` and `null` if the schema allows them, else `FAIL`. */
function absence({ spec }: YupNode): Write {
  return (value) => {
    if (value === undefined) return spec.optional ? undefined : FAIL
    return value === null && spec.nullable ? 'null' : FAIL
  }
}

function compileArray(schema: YupNode): Writer | undefined {
  const item = schema.innerType && compileText(schema.innerType)
  if (schema.innerType && !item) return undefined
  const { least, most, rest } = lengthLimits(schema)
  const none = absence(schema)
  const writeItems = item ? (generate<Write>((refer) => listSource(item, refer)) ?? itemsBy(item)) : freeText
  return {
    quick: NOT_QUICK,
    write: (value) => {
      if (!Array.isArray(value)) return none(value)
      if (hasToJson(value) || value.length < least || value.length > most || !rest(value)) return FAIL
      return writeItems(value)
    },
  }
}

function itemsBy({ write }: TextNode): Write {
  return (items) => {
    const texts: string[] = []
    for (const item of items as unknown[]) {
      const text = write(item)
      if (text === FAIL) return FAIL
      texts.push(text ?? 'null')
    }
    return `[${texts.join(',')}]`
  }
}

function compileObject(schema: YupNode): Writer | undefined {
  const entries = Object.entries(schema.fields ?? {})
  const members = entries.map(([key, field]) => ({ key, node: compileText(field) }))
  if (!members.every((member): member is TextMember => member.node !== undefined)) return undefined
  if (hasLists(schema)) return undefined
  const none = absence(schema)
  const write = generate<Write>((refer) => objectSource(members, none, refer)) ?? membersBy(members, none)
  return { quick: NOT_QUICK, write }
}

function membersBy(members: readonly TextMember[], none: Write): Write {
  const names = members.map(({ key }) => `${JSON.stringify(key)}:`)
  return (value) => {
    if (!isMembers(value)) return none(value)
    let text = ''
    for (let index = 0; index < members.length; index++) {
      const { key, node } = members[index]!
      const member = node.write(ownMember(value as Readonly<Record<string, unknown>>, key))
      if (member === FAIL) return FAIL
      if (member !== undefined) text += `${text === '' ? '{' : ','}${names[index]!}${member}`
    }
    return text === '' ? '{}' : `${text}}`
  }
}
