import { FAIL } from './fast-node.ts'
import type { Refer } from './generate.ts'
import { quickSource, type Quick } from './quick.ts'
import { isInheritedName, ownMember } from './yup-node.ts'

/** Source text of a function that writes the members of an object. */
export function objectSource(members: readonly TextMember[], refer: Refer): string {
  const surely = members.findIndex(({ node }) => node.always)
  const steps = members.map((member, index) => {
    const place = index === 0 ? 'first' : surely !== -1 && index > surely ? 'later' : 'open'
    return memberSource(member, { value: `v${index}`, place }, refer)
  })
  return `(value) => {
    let text = ''
    ${steps.join('')}
    return text === '' ? '{}' : text + '}'
  }`
}

interface Slot {
  /** Variable that holds the value. */
  readonly value: string
  /** Whether something is written before it; open when that depends on the members before. */
  readonly place: 'first' | 'later' | 'open'
}

function memberSource({ key, node }: TextMember, { value, place }: Slot, refer: Refer): string {
  const name = JSON.stringify(key)
  const fail = refer(FAIL)
  const lead = (quote: string): string => {
    const [first, later] = [JSON.stringify(`{${name}:${quote}`), JSON.stringify(`,${name}:${quote}`)]
    return { first, later, open: `(text === '' ? ${first} : ${later})` }[place]
  }
  // One text for the key and the quote, as each piece that is joined costs as much as reading a member.
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

/** Writes one kind of value on its way out. */
export interface TextNode {
  /** Settles most values of a leaf without a call of `write`. */
  readonly quick: Quick
  readonly write: Write
  /** A valid value is never left out. */
  readonly always: boolean
}

/** JSON text of a valid value, undefined for what is left out; or `FAIL`, which may also be said of a rare valid one. */
export type Write = (value: unknown) => string | undefined | typeof FAIL

/** A declared key and how its values are written. */
export interface TextMember {
  readonly key: string
  readonly node: TextNode
}

/** What JSON writes in another way than it is: quotes, backslashes, control characters, halves of surrogate pairs. */
// oxlint-disable-next-line no-control-regex
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/

const SHORT = 40
const LONG = 5_000

/** What `JSON.stringify` gives for a string, in a fraction of its time for most. */
export function jsonString(text: string): string {
  return isBare(text) ? `"${text}"` : JSON.stringify(text)
}

/** True for a text that JSON writes as it is, between quotes; very long ones are not looked at. */
export function isBare(text: string): boolean {
  const { length } = text
  // For a short text, a loop is quicker than an expression; for a long one, so is the platform.
  if (length > SHORT) return length <= LONG && !ESCAPED.test(text)
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || (unit >= 0xd800 && unit <= 0xdfff)) return false
  }
  return true
}
