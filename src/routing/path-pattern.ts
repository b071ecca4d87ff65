import { StartupError } from '../errors/startup-error.ts'
import { canonicalSegment } from './canonical-path.ts'

/** One segment of a pattern. A static `value` is in canonical percent-encoding; names are without `:` and `*`. */
export type Segment =
  | { readonly kind: 'static'; readonly value: string }
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'catch-all'; readonly name: string }

/** The form of a parameter's name, in patterns and in the names of route files. */
export const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/

/**
 * Reads a pattern such as `/users/:id` or `/files/*path`. One trailing slash is the same pattern; `/` has no segment.
 * `origin` is the place of the declaration, for messages.
 * @throws StartupError with a code `MORTAR_ROUTE_PATTERN_…` for an invalid pattern.
 */
export function parsePattern(path: string, origin?: string): readonly Segment[] {
  const refuse = refusal(path, origin)
  if (!path.startsWith('/')) throw refuse('SLASH', 'does not start with a slash', `Write '/${path}'.`)
  const parts = path.slice(1).split('/')
  if (parts.at(-1) === '') parts.pop()
  const segments = parts.map((part) => parsePatternSegment(part, refuse))
  checkNames(segments, refuse)
  const early = segments.findIndex((segment) => segment.kind === 'catch-all')
  if (early !== -1 && early !== segments.length - 1)
    throw refuse(
      'CATCH_ALL',
      `has segments after '${parts[early]}'`,
      'Put the catch-all last, or make it a parameter.',
    )
  return segments
}

/** Converts a pattern to a key of OpenAPI `paths`: `/users/:id` to `/users/{id}`, `/files/*path` to `/files/{path}`. */
export function openApiPath(path: string): string {
  const parts = parsePattern(path).map((segment) =>
    segment.kind === 'static' ? segment.value : `{${segment.name}}`,
  )
  return `/${parts.join('/')}`
}

/** Returns the pattern of parsed segments, without a trailing slash. */
export function patternOf(segments: readonly Segment[]): string {
  const parts = segments.map((segment) => {
    if (segment.kind === 'static') return segment.value
    return segment.kind === 'param' ? `:${segment.name}` : `*${segment.name}`
  })
  return `/${parts.join('/')}`
}

/** Returns the parameter names of a pattern, in the order of its segments. */
export function parameterNames(segments: readonly Segment[]): string[] {
  return segments.flatMap((segment) => (segment.kind === 'static' ? [] : [segment.name]))
}

type Refuse = (code: string, found: string, remedy: string) => StartupError

function refusal(path: string, origin: string | undefined): Refuse {
  const where = origin === undefined ? '' : ` in ${origin}`
  return (code, found, remedy) =>
    new StartupError(`The path '${path}'${where} ${found}.`, {
      code: `MORTAR_ROUTE_PATTERN_${code}`,
      remedy,
      files: origin === undefined ? [] : filesOf(origin),
    })
}

/** Returns the origins that are files, for the `files` of an error. Other origins are routers and bricks. */
export function filesOf(...origins: readonly string[]): string[] {
  return origins.filter((origin) => /\.[cm]?[jt]sx?$/.test(origin))
}

function parsePatternSegment(part: string, refuse: Refuse): Segment {
  if (part === '') throw refuse('EMPTY_SEGMENT', 'has two slashes in a row', 'Write one slash.')
  if (part.startsWith(':')) return { kind: 'param', name: parameterName(part, refuse) }
  if (part.startsWith('*')) return { kind: 'catch-all', name: parameterName(part, refuse) }
  return { kind: 'static', value: staticValue(part, refuse) }
}

function parameterName(part: string, refuse: Refuse): string {
  const name = part.slice(1)
  if (part === '*')
    throw refuse('CATCH_ALL', 'has a catch-all without a name', "Give it a name, such as '*path'.")
  if (!PARAMETER_NAME.test(name))
    throw refuse(
      'PARAMETER',
      `has the parameter '${part}', which is not one whole segment with a plain name`,
      `Write '${part[0]}name' alone between two slashes: letters, digits, '_' and '-', and split the value in the handler.`,
    )
  if (name === '__proto__') throw refuse('PARAMETER', "names a parameter '__proto__'", 'Choose another name.')
  return name
}

function staticValue(part: string, refuse: Refuse): string {
  if (/[:*]/.test(part))
    throw refuse(
      'PARAMETER',
      `has '${part}', where a parameter is not the whole segment`,
      "Make the parameter a segment of its own, or write '%3A' for a literal ':' and '%2A' for a literal '*'.",
    )
  if (/[?#{}[\]]/.test(part))
    throw refuse(
      'SEGMENT',
      `has '${part}', which no request path can contain`,
      "Write ':name' for a parameter and '*name' for a catch-all; declare a query in `query`, not in the path.",
    )
  const value = canonicalSegment(part)
  if (value === null)
    throw refuse('SEGMENT', `has a malformed escape in '${part}'`, "Write '%25' for a literal '%'.")
  if (value === '.' || value === '..')
    throw refuse(
      'SEGMENT',
      `has the segment '${part}'`,
      'Remove it: clients resolve it before they send a request.',
    )
  return value
}

function checkNames(segments: readonly Segment[], refuse: Refuse): void {
  const names = parameterNames(segments)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw refuse('TWICE', `has the parameter '${twice}' twice`, 'Give each parameter its own name.')
}
