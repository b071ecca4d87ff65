/** The parts of TypeScript text that look like code but are not, in the order in which they are tried. */
const SKIPPED = [
  /\/\/[^\n]*/y,
  /\/\*[^]*?\*\//y,
  /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y,
]
const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y

/** A string with a blank or a bracket names no module, and may quote code. */
const NO_SPECIFIER = /[\s()]/

/** The characters and words before a slash that begins a regular expression instead of a division. */
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+\n>]|\breturn)\s*$/

/**
 * Blanks out comments, regular expressions and the text of templates, with every line break kept, so that what
 * remains can be searched for imports. Code inside `${…}` of a template is blanked too.
 */
export function withoutComments(source: string): string {
  let result = ''
  let at = 0
  while (at < source.length) {
    const skipped = skippedAt(source, at)
    const string = skipped ? '' : matchAt(STRING, source, at)
    result += skipped || NO_SPECIFIER.test(string) ? blank(skipped || string) : string || source[at]
    at += (skipped || string).length || 1
  }
  return result
}

function skippedAt(source: string, at: number): string {
  if (source[at] === '`') return source.slice(at, endOfTemplate(source, at))
  if (source[at] !== '/') return ''
  const [line, block, regex] = SKIPPED
  const comment = matchAt(line!, source, at) || matchAt(block!, source, at)
  if (comment) return comment
  return BEFORE_REGEX.test(source.slice(Math.max(0, at - 40), at)) ? matchAt(regex!, source, at) : ''
}

/** Templates nest: `${}` holds code, which holds templates again. */
function endOfTemplate(source: string, start: number): number {
  let at = start + 1
  while (at < source.length && source[at] !== '`') {
    if (source[at] === '\\') at += 2
    else if (source.startsWith('${', at)) at = endOfHole(source, at + 2)
    else at += 1
  }
  return at + 1
}

function endOfHole(source: string, start: number): number {
  let at = start
  let depth = 1
  while (at < source.length && depth > 0) {
    if (source[at] === '{') depth += 1
    if (source[at] === '}') depth -= 1
    const string = matchAt(STRING, source, at)
    at = source[at] === '`' ? endOfTemplate(source, at) : at + (string.length || 1)
  }
  return at
}

function matchAt(pattern: RegExp, source: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0] ?? ''
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ')
}
