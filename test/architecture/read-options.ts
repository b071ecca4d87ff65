import { withoutComments } from './source-text.ts'

/** An interface of options that a public entry exports, and the keys that a caller may write. */
export interface OptionsInterface {
  readonly name: string
  readonly keys: readonly string[]
}

/** The names ending in `Options` that an entry exports, with the file each comes from: `./options.ts`, or none for its own. */
export function exportedOptions(source: string): { name: string; from: string | undefined }[] {
  const code = withoutComments(source)
  const handed = [...code.matchAll(/^export\s+(?:type\s+)?\{([^}]*)\}\s*from\s*['"]([^'"]+)['"]/gm)]
  const own = [...code.matchAll(/^export\s+(?:interface|type)\s+(\w+Options)\b/gm)]
  return [
    ...handed.flatMap(([, names, from]) => optionNames(names!).map((name) => ({ name, from }))),
    ...own.map(([, name]) => ({ name: name!, from: undefined })),
  ]
}

/** The keys of an interface as a file declares it, those of the interfaces that it extends in the same file included. */
export function readOptions(source: string, name: string): OptionsInterface | undefined {
  const code = withoutComments(source)
  const head = new RegExp(
    String.raw`\binterface\s+${name}\b(?:<[^{]*>)?\s*(?:extends\s+([^{]+?))?\s*\{`,
  ).exec(code)
  if (!head) return undefined
  const parents = (head[1] ?? '').match(/\w+Options\b/g) ?? []
  const inherited = parents.flatMap((parent) => readOptions(source, parent)?.keys ?? [])
  return { name, keys: [...inherited, ...topLevelKeys(code, head.index + head[0].length)] }
}

function optionNames(names: string): string[] {
  const exported = names.split(',').map((name) => name.trim().replace(/^type\s+/, ''))
  return exported.filter((name) => /^\w+Options$/.test(name))
}

/** Keys at the depth of the interface's own braces, from behind the opening one. */
function topLevelKeys(code: string, start: number): string[] {
  const keys: string[] = []
  let depth = 0
  for (const line of code.slice(start).split('\n')) {
    const key = /^\s*(?:readonly\s+)?(\w+)\??\s*[:(<]/.exec(line)
    if (depth === 0 && key) keys.push(key[1]!)
    depth += count(line, /[{([]/g) - count(line, /[})\]]/g)
    if (depth < 0) return keys
  }
  return keys
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
