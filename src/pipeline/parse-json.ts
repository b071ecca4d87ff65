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
    const place = placeOfJsonFault(source)
    throw new BadRequest(`The body is not valid JSON${place}.`, { code: 'malformed_body' })
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

/** A longer text is not searched: the search is slower than the parser, and the text may come from an attacker. */
const LONGEST = 65_536

const SPACE = /[\t\n\r ]*/y
// oxlint-disable-next-line no-control-regex -- JSON forbids these characters in strings
const STRING = /"(?:[^"\\\u0000-\u001F]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/y
const SCALAR = new RegExp(
  `(?:${STRING.source}|-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[Ee][+-]?\\d+)?|true|false|null)(?![\\w.+-])`,
  'y',
)

/** The possible next token: a value, the first item or key of a container, a key, a colon, or a comma or closing bracket. */
type Expected = 'value' | 'item' | 'member' | 'key' | 'colon' | 'end'

/**
 * Returns where text stops being JSON, as ` at line 2, column 13` for a message; empty for a long text. The messages of
 * JSON.parse differ between versions of Node, often have no position, and quote the text.
 */
function placeOfJsonFault(text: string): string {
  if (text.length > LONGEST) return ''
  const before = text.slice(0, faultOf(text)).split(/\r\n|\n|\r/)
  return ` at line ${before.length}, column ${before.at(-1)!.length + 1}`
}

/** Returns the offset of the first token that is not allowed at its position. */
function faultOf(text: string): number {
  const closers: string[] = []
  let expected: Expected = 'value'
  for (let at = 0; ;) {
    at = endOf(SPACE, text, at)
    const char = text[at] ?? ''
    const next: Expected | undefined =
      afterBracket(expected, char, closers) ?? afterMark(expected, char, closers)
    const end = next === undefined ? endOfToken(expected, text, at) : at + 1
    if (end < 0) return at
    expected = next ?? (expected === 'value' || expected === 'item' ? 'end' : 'colon')
    at = end
  }
}

function afterBracket(expected: Expected, char: string, closers: string[]): Expected | undefined {
  if ((expected === 'value' || expected === 'item') && (char === '{' || char === '[')) {
    closers.push(char === '{' ? '}' : ']')
    return char === '{' ? 'member' : 'item'
  }
  if (char !== closers.at(-1) || !CLOSABLE.has(expected)) return undefined
  closers.pop()
  return 'end'
}

const CLOSABLE: ReadonlySet<Expected> = new Set(['end', 'item', 'member'])

function afterMark(expected: Expected, char: string, closers: readonly string[]): Expected | undefined {
  if (expected === 'colon' && char === ':') return 'value'
  if (expected !== 'end' || char !== ',' || closers.length === 0) return undefined
  return closers.at(-1) === '}' ? 'key' : 'value'
}

/** Returns the end of a key, string, number or word, or -1. */
function endOfToken(expected: Expected, text: string, at: number): number {
  if (expected === 'key' || expected === 'member') return endOf(STRING, text, at)
  return expected === 'value' || expected === 'item' ? endOf(SCALAR, text, at) : -1
}

/** Returns the end of a match at an offset, or -1. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : -1
}
