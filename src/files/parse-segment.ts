import type { Finding } from '../routing/finding.ts'
import { PARAMETER_NAME } from '../routing/path-pattern.ts'

/** One segment of a file or folder name: `users`, `[id]`, `[...path]`. `raw` is that string. */
export interface FileSegment {
  readonly kind: 'static' | 'param' | 'catch-all'
  /** The text of a static segment, otherwise the name of the parameter. */
  readonly name: string
  readonly raw: string
}

// Characters with a meaning in patterns or URLs: no request, or a different one, would reach a file with such a name.
const RESERVED = /[:*?#%{}\\\p{Cc}\ufffd]|^\s|\s$/u
// Parameters of Remix ($id), Express (:id), OpenAPI ({id}) and others, and catch-alls ($, *, {path*}).
const FOREIGN_PARAMETER = /^(?:[$:](\w+)\??|\{(\w+)\}|<(\w+)>)$/
const FOREIGN_CATCH_ALL = /^(?:\$|\*(\w*)|:(\w+)\*|\{(?:\*|\.{3})?(\w+)\*?\})$/
// Other spellings of a catch-all: two or four dots, an ellipsis, a star, trailing dots.
const CATCH_ALL_MARKS = /^[.…‥*\s]+|[.…‥*\s]+$/gu

/** Parses one segment of a route file's path. Returns a finding for a name that breaks a convention. */
export function parseSegment(raw: string): FileSegment | Finding {
  if (/^\(.*\)$/.test(raw)) return groupFinding(raw)
  if (!/[[\]]/.test(raw)) return staticSegment(raw)
  const finding = bracketFinding(raw)
  return finding ?? bracketedSegment(raw.slice(1, -1), raw)
}

/** True for a finding of `parseSegment`. */
export function isFinding(result: FileSegment | Finding): result is Finding {
  return 'code' in result
}

/**
 * Returns a name as another framework writes it in the spelling of this one: `[id]` for `$id`, `:id` and `{id}`, `index` for
 * `+server`, `users/[id]` for `users.$id`. Returns any other name unchanged.
 */
export function ownSpelling(name: string): string {
  if (/^\+\w+$/.test(name)) return 'index'
  if (/\.\$\w/.test(name)) return name.split('.').map(ownSpelling).join('/')
  const parameter = FOREIGN_PARAMETER.exec(name)?.slice(1).find(Boolean)
  if (parameter !== undefined) return `[${parameter}]`
  const catchAll = FOREIGN_CATCH_ALL.exec(name)
  return catchAll === null ? name : `[...${catchAll.slice(1).find(Boolean) ?? 'path'}]`
}

/** Converts a segment to its pattern: `:id`, `*path`, or the unchanged static text. */
export function patternSegment(segment: FileSegment): string {
  if (segment.kind === 'static') return segment.name
  return segment.kind === 'param' ? `:${segment.name}` : `*${segment.name}`
}

function staticSegment(raw: string): FileSegment | Finding {
  const character = RESERVED.exec(raw)?.[0]
  if (character === undefined) return { kind: 'static', name: raw, raw }
  return {
    code: 'MORTAR_ROUTE_CHARACTER',
    found: `has the character ${JSON.stringify(character)} in "${raw}", which is not allowed there in a path`,
    remedy:
      ownSpelling(raw) !== raw
        ? `Write ${ownSpelling(raw)}: [name] is a parameter, [...name] a catch-all.`
        : 'Remove it from the name. Other characters are allowed and need no percent-encoding.',
  }
}

/** Faults of the brackets themselves, outermost first. */
function bracketFinding(raw: string): Finding | undefined {
  const inner = /^\[\[([^[\]]+)\]\]$/.exec(raw)?.[1]
  if (inner !== undefined) return optionalFinding(raw, inner)
  const depth = depthOf(raw)
  if (depth === 'unclosed')
    return {
      code: 'MORTAR_ROUTE_BRACKET_UNCLOSED',
      found: `has a bracket without its partner in "${raw}"`,
      remedy: `Write [${nameIn(raw)}] for a parameter, or [...${nameIn(raw)}] for the rest of the path.`,
    }
  if (depth > 1)
    return {
      code: 'MORTAR_ROUTE_BRACKET_NESTED',
      found: `has brackets inside brackets in "${raw}"`,
      remedy: 'Write one pair of brackets with one name in it, such as [id].',
    }
  if (!/^\[[^[\]]*\]$/.test(raw))
    return {
      code: 'MORTAR_ROUTE_PARAMETER_SEGMENT',
      found: `has a parameter that is not a whole segment in "${raw}"`,
      remedy: 'Make the whole segment one parameter, such as [name], and split the value in the handler.',
    }
  return undefined
}

function depthOf(raw: string): number | 'unclosed' {
  let depth = 0
  let deepest = 0
  for (const character of raw) {
    if (character === '[') depth += 1
    if (character === ']') depth -= 1
    if (depth < 0) return 'unclosed'
    deepest = Math.max(deepest, depth)
  }
  return depth === 0 ? deepest : 'unclosed'
}

function bracketedSegment(content: string, raw: string): FileSegment | Finding {
  const name = content.replaceAll(CATCH_ALL_MARKS, '')
  if (name === '')
    return {
      code: 'MORTAR_ROUTE_BRACKET_EMPTY',
      found: `has brackets without a name in "${raw}"`,
      remedy: 'Write a name in them: [id] for a parameter, [...path] for the rest of the path.',
    }
  const isCatchAll = content === `...${name}`
  if (!isCatchAll && content.trim() !== name)
    return {
      code: 'MORTAR_ROUTE_CATCH_ALL_MISTYPED',
      found: `has a mistyped catch-all, "${raw}"`,
      remedy: `Write [...${nameIn(name)}] with three dots for the rest of the path, or [${nameIn(name)}] for one segment.`,
    }
  if (content !== content.trim() || !PARAMETER_NAME.test(name) || name === '__proto__')
    return nameFinding(raw, name)
  return { kind: isCatchAll ? 'catch-all' : 'param', name, raw }
}

function nameFinding(raw: string, name: string): Finding {
  return {
    code: 'MORTAR_ROUTE_PARAMETER_NAME',
    found: `has a parameter name that is not a plain name in "${raw}"`,
    remedy:
      name === '__proto__'
        ? 'Choose another name.'
        : `Write letters, digits, "_" and "-", beginning with a letter: [${nameIn(name)}].`,
  }
}

function optionalFinding(raw: string, inner: string): Finding {
  const single = `[${inner}]`
  return {
    code: 'MORTAR_ROUTE_PARAMETER_OPTIONAL',
    found: `has an optional parameter, "${raw}"`,
    remedy: `Write two files, one for ${single} and an index for the path without it; both may export one handler.`,
  }
}

function groupFinding(raw: string): Finding {
  return {
    code: 'MORTAR_ROUTE_GROUP',
    found: `has a name in parentheses, "${raw}", and there are no route groups`,
    remedy:
      'Move the files one folder up; for middleware of several routes, put them in a folder of their own or wrap the handlers.',
  }
}

/** Makes a plain name from a faulty one, for a remedy that can be copied. */
function nameIn(text: string): string {
  const plain = text.normalize('NFKD').replaceAll(/[^A-Za-z0-9_-]+/g, '')
  const name = plain.replace(/^[^A-Za-z]+/, '')
  return name === '' ? 'name' : name
}
