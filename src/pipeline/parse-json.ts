import { BadRequest } from '../errors/http-error.ts'

/** Far beyond any real document, and well below the depth at which `JSON.stringify` runs out of stack. */
const DEEPEST = 1000

/**
 * Parses a JSON body. A `__proto__` key is left out at every depth: merged into another object it would replace that
 * object's prototype. An empty body is no value.
 * @throws BadRequest `malformed_body`, with the parser's position but none of the body's content.
 */
export function parseJson(text: string): unknown {
  const source = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  if (isTooDeep(source))
    throw new BadRequest(`The body is nested more than ${DEEPEST} levels deep.`, { code: 'malformed_body' })
  try {
    // An escaped spelling of the key contains a backslash, so a text with neither cannot hold it.
    return source.includes('__proto__') || source.includes('\\u00')
      ? JSON.parse(source, withoutPrototype)
      : JSON.parse(source)
  } catch {
    if (source.trim() === '') return undefined
    throw new BadRequest('The body is not valid JSON.', { code: 'malformed_body' })
  }
}

function withoutPrototype(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}

/** Counts brackets outside of texts, for sources that are long enough to hold so many. */
function isTooDeep(source: string): boolean {
  if (source.length < 2 * DEEPEST) return false
  let depth = 0
  for (let index = 0; index < source.length; index++) {
    const code = source.charCodeAt(index)
    if (code === QUOTE) index = endOfText(source, index)
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) depth += 1
    else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth -= 1
    if (depth > DEEPEST) return true
  }
  return false
}

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 91, 93, 123, 125]

/** Index of the quote that ends the text which begins at `start`. */
function endOfText(source: string, start: number): number {
  let index = start + 1
  while (index < source.length && source.charCodeAt(index) !== QUOTE)
    index += source.charCodeAt(index) === BACKSLASH ? 2 : 1
  return index
}
