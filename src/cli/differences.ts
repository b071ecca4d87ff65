/** Lists the differences between two JSON values as lines: `+ paths./notes.get` exists in the second only. */
export function differences(first: unknown, second: unknown, place = ''): string[] {
  if (!isContainer(first) || !isContainer(second) || Array.isArray(first) !== Array.isArray(second))
    return Object.is(first, second) ? [] : [`~ ${place || 'the document'}`]
  const keys = [...new Set([...Object.keys(first), ...Object.keys(second)])].toSorted()
  return keys.flatMap((key) => {
    const at = place === '' ? key : `${place}.${key}`
    if (!Object.hasOwn(first, key)) return [`+ ${at}`]
    if (!Object.hasOwn(second, key)) return [`- ${at}`]
    return differences(first[key], second[key], at)
  })
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
