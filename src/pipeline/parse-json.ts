import { BadRequest } from '../errors/http-error.ts'

/** Maximum depth: more than any real document, and below the depth at which `JSON.stringify` overflows the stack. */
const DEEPEST = 1000

/**
 * Parses a JSON body. Removes `__proto__` keys at every depth, escaped or not: merging such an object into another one
 * would replace the prototype of that object. An empty body is undefined.
 * @throws BadRequest `malformed_body` for invalid JSON and for more than 1,000 levels. The message contains no content.
 */
export function parseJson(text: string): unknown {
  const source = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch {
    if (source.trim() === '') return undefined
    throw new BadRequest('The body is not valid JSON.', { code: 'malformed_body' })
  }
  if (typeof value === 'object' && value !== null && !isHarmless(source)) judge(value, 1)
  return value
}

/** True for a short body that can neither nest too deeply nor contain the key, which is the common case. */
function isHarmless(source: string): boolean {
  return source.length < 2 * DEEPEST && !source.includes('\\') && !source.includes('__proto__')
}

/**
 * Checks the parsed value, not the JSON string: walking it costs a few percent of `JSON.parse`. Scanning the characters
 * or a reviver costs several times as much (`bench/json.ts`). A body that is too deep is still parsed first; the parser
 * does not use recursion.
 */
function judge(value: object, depth: number): void {
  if (depth > DEEPEST)
    throw new BadRequest(`The body is nested more than ${DEEPEST} levels deep.`, {
      code: 'malformed_body',
    })
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index]
      if (typeof item === 'object' && item !== null) judge(item, depth + 1)
    }
    return
  }
  const members = value as Record<string, unknown>
  for (const key in members) {
    const member = members[key]
    if (typeof member === 'object' && member !== null) judge(member, depth + 1)
    if (key === '__proto__') delete members['__proto__']
  }
}
