import { BadRequest } from '../errors/http-error.ts'
import { stackless } from '../errors/stackless.ts'

/** Far beyond any real document, and well below the depth at which `JSON.stringify` runs out of stack. */
const DEEPEST = 1000

/**
 * Parses a JSON body. A `__proto__` key is left out at every depth, however it is escaped: merged into another object it
 * would replace that object's prototype. An empty body is undefined.
 * @throws BadRequest `malformed_body` for invalid JSON and for more than 1,000 levels, with none of the body's content.
 */
export function parseJson(text: string): unknown {
  const source = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch {
    if (source.trim() === '') return undefined
    throw stackless(BadRequest, 'The body is not valid JSON.', { code: 'malformed_body' })
  }
  if (typeof value === 'object' && value !== null && !isHarmless(source)) judge(value, 1)
  return value
}

/** True for a short text that can neither nest too deeply nor spell the key: most bodies. */
function isHarmless(source: string): boolean {
  return source.length < 2 * DEEPEST && !source.includes('\\') && !source.includes('__proto__')
}

/**
 * Judges the value and not its text, because the walk costs a few percent of `JSON.parse`, whatever the text holds: a
 * scan of its characters, or a reviver, costs several times as much (`bench/json.ts`). A deeper text is parsed in vain,
 * which the parser does without recursion.
 */
function judge(value: object, depth: number): void {
  if (depth > DEEPEST)
    throw stackless(BadRequest, `The body is nested more than ${DEEPEST} levels deep.`, {
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
