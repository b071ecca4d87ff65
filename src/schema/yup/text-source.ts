import { FAIL } from './fast-node.ts'
import type { TextMember, TextNode } from './text-node.ts'
import type { Refer } from './generate.ts'
import { jsonString } from './json-string.ts'
import { quickSource } from './quick-source.ts'
import { isInheritedName, ownMember } from './yup-node.ts'

/** Source text of a function that writes the members of an object. */
export function objectSource(members: readonly TextMember[], refer: Refer): string {
  const fail = refer(FAIL)
  const steps = members.map(({ key, node }, index) => {
    const name = JSON.stringify(key)
    const member = isInheritedName(key) ? `${refer(ownMember)}(value, ${name})` : `value[${name}]`
    const first = JSON.stringify(`{${name}:`)
    const other = JSON.stringify(`,${name}:`)
    const lead = index === 0 ? first : `(text === '' ? ${first} : ${other})`
    return `
      const v${index} = ${member}
      if (${quickSource(node.quick, `v${index}`, refer)}) text += ${lead} + ${quickText(node, `v${index}`, refer)}
      else {
        const other = ${refer(node.write)}(v${index})
        if (other === ${fail}) return ${fail}
        if (other !== undefined) text += ${lead} + other
      }`
  })
  return `(value) => {
    let text = ''
    ${steps.join('')}
    return text === '' ? '{}' : text + '}'
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
      if (${quickSource(item.quick, 'item', refer)}) text += ${quickText(item, 'item', refer)}
      else {
        const other = ${refer(item.write)}(item)
        if (other === ${fail}) return ${fail}
        text += other === undefined ? 'null' : other
      }
    }
    return text + ']'
  }`
}

function quickText({ quick }: TextNode, name: string, refer: Refer): string {
  return quick.type === 'string' ? `${refer(jsonString)}(${name})` : name
}
