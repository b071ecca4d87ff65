import { withoutComments } from './source-text.ts'

/** One import of a file, static, type-only, re-exported or by `import()` with a literal. */
export interface Import {
  readonly specifier: string
  readonly line: number
}

const CLAUSE = String.raw`(?:type\s+)?(?:[\w$*\s,]|\{[^}]*\})+?`
const STATEMENT = new RegExp(
  String.raw`^\s*(?:import|export)\s*${CLAUSE}\s*\bfrom\s*['"]([^'"\n]+)['"]`,
  'gm',
)
const SIDE_EFFECT = /^\s*import\s*['"]([^'"\n]+)['"]/gm
const CALL = /\bimport\s*\(\s*['"]([^'"\n]+)['"]/g
const RE_EXPORT = new RegExp(
  String.raw`^\s*export\s*(?:type\s*)?(?:\*(?:\s*as\s+[\w$]+)?|\{[^}]*\})\s*from\s*['"][^'"\n]+['"];?`,
  'gm',
)

/** Everything that the source imports, by line. */
export function readImports(source: string): Import[] {
  const code = withoutComments(source)
  const found = [STATEMENT, SIDE_EFFECT, CALL].flatMap((form) => [...code.matchAll(form)])
  return found
    .map((match) => ({ specifier: match[1]!, line: lineOf(code, match.index + match[0].length) }))
    .toSorted((a, b) => a.line - b.line)
}

/** True for a file that only re-exports from other files. */
export function isBarrel(source: string): boolean {
  const code = withoutComments(source)
  const rest = code.replaceAll(RE_EXPORT, '')
  return rest.length < code.length && rest.trim() === ''
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
