import { isBare, jsonString } from '../../support/json-string.ts'
import { FAIL } from './fast-node.ts'
import type { Refer } from './generate.ts'
import { quickSource, type Quick } from './quick.ts'
import { isInheritedName, ownMember } from '../../compat/yup.ts'

/** Source text of a function that writes the members of an object, and other values by `none`. */
export function objectSource(members: readonly TextMember[], none: Write, refer: Refer): string {
  const surely = members.findIndex(({ node }) => node.always)
  const steps = members.map((member, index) => {
    const place = index === 0 ? 'first' : surely !== -1 && index > surely ? 'later' : 'open'
    return memberSource(member, { value: `v${index}`, place }, refer)
  })
  return `(value) => {
    if (!${refer(isMembers)}(value)) return ${refer(none)}(value)
    let text = ''
    ${steps.join('')}
    return text === '' ? '{}' : text + '}'
  }`
}

/** True for an object that JSON writes by its members. */
export function isMembers(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !hasToJson(value)
}

/** True for an object with a JSON form of its own. */
export function hasToJson(value: object): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function'
}

interface Slot {
  /** Variable that holds the value. */
  readonly value: string
  /** True if a member precedes it; open if that depends on the previous members. */
  readonly place: 'first' | 'later' | 'open'
}

function memberSource({ key, node }: TextMember, { value, place }: Slot, refer: Refer): string {
  const name = JSON.stringify(key)
  const fail = refer(FAIL)
  const lead = (quote: string): string => {
    const [first, later] = [JSON.stringify(`{${name}:${quote}`), JSON.stringify(`,${name}:${quote}`)]
    return { first, later, open: `(text === '' ? ${first} : ${later})` }[place]
  }
  // One string for the key and the quote, because each joined piece costs as much as reading a member.
  const quick =
    node.quick.type === 'string'
      ? `${refer(isBare)}(${value}) ? ${lead('"')} + ${value} + '"' : ${lead('')} + ${refer(JSON.stringify)}(${value})`
      : `${lead('')} + ${value}`
  return `
    const ${value} = ${isInheritedName(key) ? `${refer(ownMember)}(value, ${name})` : `value[${name}]`}
    if (${quickSource(node.quick, value, refer)}) text += ${quick}
    else {
      const other = ${refer(node.write)}(${value})
      if (other === ${fail}) return ${fail}
      if (other !== undefined) text += ${lead('')} + other
    }`
}

/** Source text of a function that writes the items of an array. */
export function listSource(item: TextNode, refer: Refer): string {
  const fail = refer(FAIL)
  return `(items) => {
    let text = '['
    for (let index = 0; index < items.length; index++) {
      if (index > 0) text += ','
      const item = items[index]
      if (${quickSource(item.quick, 'item', refer)}) text += ${item.quick.type === 'string' ? `${refer(jsonString)}(item)` : 'item'}
      else {
        const other = ${refer(item.write)}(item)
        if (other === ${fail}) return ${fail}
        text += other === undefined ? 'null' : other
      }
    }
    return text + ']'
  }`
}

/** Writer of one kind of response value. */
export interface TextNode {
  /** Decides most values of a leaf without a call of `write`. */
  readonly quick: Quick
  readonly write: Write
  /** A valid value is never left out. */
  readonly always: boolean
}

/**
 * Returns the JSON text of a valid value, undefined for an omitted value, or `FAIL`, which is also possible for a rare
 * valid one.
 */
export type Write = (value: unknown) => string | undefined | typeof FAIL

/** A declared key and the writer of its values. */
export interface TextMember {
  readonly key: string
  readonly node: TextNode
}
