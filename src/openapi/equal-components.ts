import type { Component } from './component.ts'
import { isObject } from '../support/describe-value.ts'

/**
 * Returns the class of each component, by id. Two components have one class if they have the same label and describe the
 * same values, also if they refer to themselves or to each other. The classes are refined until no two components of a
 * class differ in the classes that they refer to.
 */
export function classesOf(
  components: readonly Component[],
  idOf: (reference: unknown) => number | undefined,
): number[] {
  const texts = components.map(({ core }) => canonicalText(core, idOf))
  let classes = numbered(components.map(({ labelled }) => labelled.label))
  for (;;) {
    const next = numbered(
      texts.map((pieces, index) => {
        const referred = pieces.map((piece) => (typeof piece === 'number' ? `#${classes[piece]}` : piece))
        return `${classes[index]} ${referred.join('')}`
      }),
    )
    if (Math.max(...next) === Math.max(...classes)) return next
    classes = next
  }
}

/** Numbers equal texts alike, in the order of their first appearance. */
function numbered(texts: readonly string[]): number[] {
  const numbers = new Map<string, number>()
  return texts.map((text) => {
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    return number
  })
}

/** A description as text, whatever the order of its keys, with the ids of references as numbers in between. */
function canonicalText(node: unknown, idOf: (reference: unknown) => number | undefined): (string | number)[] {
  if (Array.isArray(node)) return ['[', ...node.flatMap((item) => [...canonicalText(item, idOf), ',']), ']']
  if (!isObject(node)) return [JSON.stringify(node) ?? 'null']
  const id = idOf(node.$ref)
  const members = Object.entries(node)
    .filter(([key]) => id === undefined || key !== '$ref')
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, value]) => {
      const ordered =
        key === 'required' && Array.isArray(value)
          ? value.toSorted((a, b) => (String(a) < String(b) ? -1 : 1))
          : value
      return [`${JSON.stringify(key)}:`, ...canonicalText(ordered, idOf), ',']
    })
  return ['{', ...(id === undefined ? [] : [id]), ...members, '}']
}
