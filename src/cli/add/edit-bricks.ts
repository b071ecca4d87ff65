import { type BrickParts, namesOf } from '../brick-recipe.ts'

/** Result of the change of a module with a list of bricks. */
export type Edit =
  | { readonly kind: 'present' }
  | { readonly kind: 'added'; readonly source: string }
  /** The list is not written in a way that can be changed safely. */
  | { readonly kind: 'unknown' }

const LIST = /export const bricks(?:\s*:[^=]+)?\s*=\s*\[/g
const WIDTH = 100

/** Adds a brick with its imports to the literal list `export const bricks = […]` of a module. */
export function addToBricks(source: string, { import: imports = {}, use }: BrickParts): Edit {
  const entries = Object.keys(imports).filter((entry) => entry !== 'mortar')
  if (entries.some((entry) => importOf(entry).test(source))) return { kind: 'present' }
  const [list, ...others] = [...source.matchAll(LIST)]
  if (use === undefined || list === undefined || others.length > 0) return { kind: 'unknown' }
  const from = list.index + list[0].length
  const to = closingBracket(source, from)
  if (to === undefined) return { kind: 'unknown' }
  const items = withItem(source.slice(from, to), use)
  const changed = source.slice(0, from) + items + source.slice(to)
  const pairs = Object.entries(imports).map(([entry, names]) => [entry, namesOf(names)] as const)
  return { kind: 'added', source: pairs.reduceRight(withImport, changed) }
}

/** The lines that a reader has to write where `addToBricks` cannot. */
export function linesOf({ import: imports = {}, use }: BrickParts): readonly string[] {
  return [
    ...Object.entries(imports).map(([entry, names]) => importLine(entry, namesOf(names))),
    ...(use === undefined ? [] : [`export const bricks = [/* … */ ${use}] as const`]),
  ]
}

function importOf(entry: string): RegExp {
  return new RegExp(String.raw`\bfrom\s*['"]${escaped(entry)}['"]`)
}

/** The entry as a part of a regular expression. */
function escaped(text: string): string {
  return text.replaceAll(/[^\w/@-]/g, String.raw`\$&`)
}

function importLine(entry: string, names: readonly string[]): string {
  return `import { ${names.join(', ')} } from '${entry}'`
}

function withItem(items: string, use: string): string {
  const rest = items.trimEnd()
  if (rest.trim() === '') return use
  const separated = rest.endsWith(',') ? rest : `${rest},`
  if (!items.includes('\n') && separated.length + use.length < WIDTH) return `${separated} ${use}`
  if (!items.includes('\n')) return `\n  ${separated.trim()}\n  ${use},\n`
  const indent = /\n([ \t]*)\S[^\n]*$/.exec(rest)?.[1] ?? '  '
  return `${separated}\n${indent}${use},\n`
}

/** Adds names to an import of the entry that is there, or a new import above the others. */
function withImport(source: string, [entry, added]: readonly [string, readonly string[]]): string {
  const existing = new RegExp(String.raw`^import \{([^}]*)\} from (['"])${escaped(entry)}\2`, 'm').exec(
    source,
  )
  if (existing === null) return `${importLine(entry, added)}\n${source}`
  const names = existing[1]!.split(',').map((each) => each.trim())
  if (added.every((name) => names.includes(name))) return source
  const all = [...new Set([...names, ...added])].filter((each) => each !== '').toSorted()
  return source.replace(existing[0], `import { ${all.join(', ')} } from '${entry}'`)
}

/** The index of the bracket that closes the list; undefined where strings or comments do not end. */
function closingBracket(source: string, from: number): number | undefined {
  const token =
    /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[^]*?\*\/|[[\](){}'"`]/g
  token.lastIndex = from
  let depth = 1
  for (let match = token.exec(source); match !== null; match = token.exec(source)) {
    const [text] = match
    if (/^['"`]$/.test(text)) return undefined
    if (/^[[({]$/.test(text)) depth += 1
    if (/^[\])}]$/.test(text)) depth -= 1
    if (depth === 0) return text === ']' ? match.index : undefined
  }
  return undefined
}
