import { type BrickParts, namesOf } from '../brick-recipe.ts'

/** Result of the change of a module with a list of bricks. */
export type Edit =
  | { readonly kind: 'present' }
  /** The brick is there without a package of this one: with another provider. */
  | { readonly kind: 'other' }
  | { readonly kind: 'added'; readonly source: string }
  /** The list is not written in a way that can be changed safely. */
  | { readonly kind: 'unknown' }

const LIST = /export const bricks(?:\s*:[^=]+)?\s*=\s*\[/g
const IMPORT = /^import \{([^}]*)\} from (['"])([^'"]+)\2/gm
/** `printWidth` of a new application, so that `format:check` passes after the change. */
const WIDTH = 110
/** Comments that stay above a new import: those above other imports or an empty line. */
const HEADER =
  /^(?:\s*(?:(?:#!|\/\/)[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/[ \t\r]*)\n)+(?:\s*(?=import\b)|[ \t\r]*\n)/

/** Adds a brick with its imports to the literal list `export const bricks = […]` of a module. */
export function addToBricks(source: string, { import: imports = {}, use }: BrickParts): Edit {
  const entries = Object.keys(imports).filter((entry) => entry !== 'mortar')
  const there = entries.filter((entry) => source.split(/['"]/).includes(entry))
  const isThere = (entry: string) => there.some((each) => `${entry}/`.startsWith(`${each}/`))
  if (there.length > 0) return { kind: entries.every(isThere) ? 'present' : 'other' }
  const [list, ...others] = [...source.matchAll(LIST)]
  if (use === undefined || list === undefined || others.length > 0) return { kind: 'unknown' }
  const from = list.index + list[0].length
  const found = scanList(source, from)
  if (found === undefined) return { kind: 'unknown' }
  const rest = source.slice(found.end)
  const around = list[0].length + rest.split('\n', 1)[0]!.length
  const changed = source.slice(0, from) + withItem(found.items, use, around) + rest
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

function importLine(entry: string, names: readonly string[]): string {
  return `import { ${names.join(', ')} } from '${entry}'`
}

/** The text between the brackets with one item more; `around` counts the characters of its line outside of them. */
function withItem(items: readonly string[], use: string, around: number): string {
  const text = items.join(',')
  const given = items.at(-1)!.trim() === '' ? items.slice(0, -1) : items
  const lineOf = (item: string, by = '  '): string => `${by}${item.replaceAll('\n', `\n${by}`)},\n`
  if (given.length > 0 && text.includes('\n')) {
    const rest = text.trimEnd()
    const indent = /\n([ \t]*)\S[^\n]*$/.exec(rest)?.[1] ?? '  '
    return `${rest}${rest.endsWith(',') ? '' : ','}\n${lineOf(use, indent)}`
  }
  const all = [...given.map((item) => item.trim()), use]
  const line = all.join(', ')
  const fits = around + line.length <= WIDTH && !use.includes('\n')
  return fits ? line : `\n${all.map((item) => lineOf(item)).join('')}`
}

/** Adds names to an import of the entry that is there, or a new import above the others. */
function withImport(source: string, [entry, added]: readonly [string, readonly string[]]): string {
  const existing = [...source.matchAll(IMPORT)].find((each) => each[3] === entry)
  const { 0: header } = HEADER.exec(source) ?? ['']
  if (existing === undefined) return `${header}${importLine(entry, added)}\n${source.slice(header.length)}`
  const names = existing[1]!.split(',').map((each) => each.trim())
  if (added.every((name) => names.includes(name))) return source
  const all = [...new Set([...names, ...added])].filter((each) => each !== '').toSorted()
  return source.replace(existing[0], `import { ${all.join(', ')} } from '${entry}'`)
}

/** The items of a list as they are written, and the index of its closing bracket; undefined if it does not end. */
function scanList(source: string, from: number): { end: number; items: string[] } | undefined {
  const token =
    /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[^]*?\*\/|[[\](){},'"`]/g
  token.lastIndex = from
  const items: string[] = []
  let start = from
  let depth = 1
  for (let match = token.exec(source); match !== null; match = token.exec(source)) {
    const { 0: text, index } = match
    if (/^['"`]$/.test(text)) return undefined
    if (/^[[({]$/.test(text)) depth += 1
    if (/^[\])}]$/.test(text)) depth -= 1
    if (depth > 1 || (depth === 1 && text !== ',')) continue
    items.push(source.slice(start, index))
    start = index + 1
    if (depth === 0) return text === ']' ? { end: index, items } : undefined
  }
  return undefined
}
