import { BadRequest } from '../errors/http-error.ts'

/**
 * Parses a JSON body. A `__proto__` key is left out at every depth: merged into another object it would replace that
 * object's prototype. An empty body is no value.
 * @throws BadRequest `malformed_body`, with the parser's position but none of the body's content.
 */
export function parseJson(text: string): unknown {
  const source = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  if (source.trim() === '') return undefined
  try {
    // An escaped spelling of the key contains a backslash, so a text with neither cannot hold it.
    return source.includes('__proto__') || source.includes('\\u00')
      ? JSON.parse(source, withoutPrototype)
      : JSON.parse(source)
  } catch {
    throw new BadRequest('The body is not valid JSON.', { code: 'malformed_body' })
  }
}

function withoutPrototype(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}
