import { StartupError } from '../../errors/startup-error.ts'
import { joinPath } from '../../support/url-path.ts'
import { parsePattern } from '../../routing/path-pattern.ts'

/** Maximum optional groups in one path: each group doubles the number of patterns. */
const MAX_GROUPS = 4

/**
 * Expands a path of @koa/router 15 into patterns that together match the same requests: `/users{/:id}` becomes `/users`
 * and `/users/:id`. Escaped characters become percent-escapes, as in Mortar's own patterns.
 * @throws StartupError for a path that no pattern can express, with the reason and the remedy.
 */
export function expandKoaPath(path: string, origin: string): string[] {
  const groups = path.replaceAll(/\\./g, '').split('{').length - 1
  if (groups > MAX_GROUPS)
    throw refusal(path, origin, `has ${groups} optional groups`, 'Write the paths one by one.')
  const unescaped = /[()[\]+?!]/.exec(path.replaceAll(/\\./g, ''))
  if (unescaped)
    throw refusal(
      path,
      origin,
      `has '${unescaped[0]}', which @koa/router 15 does not accept either`,
      'Check the value of the parameter with router.param(), and write optional parts as {/:name}.',
    )
  const expanded = expandGroups(path).map((each) => withEscapes(each))
  for (const each of expanded) parsePattern(each === '' ? '/' : each, origin)
  return [...new Set(expanded.map((each) => joinPath('', each)))]
}

/** Returns the path with and without each optional group. Groups may be nested. */
function expandGroups(path: string): string[] {
  const end = indexOfUnescaped(path, '}', 0)
  if (end === -1) return [path]
  let start = -1
  for (
    let at = indexOfUnescaped(path, '{', 0);
    at !== -1 && at < end;
    at = indexOfUnescaped(path, '{', at + 1)
  )
    start = at
  const before = path.slice(0, start)
  const after = path.slice(end + 1)
  return [before + after, before + path.slice(start + 1, end) + after].flatMap(expandGroups)
}

function indexOfUnescaped(path: string, character: string, from: number): number {
  for (let at = from; at < path.length; at++) {
    if (path[at] === '\\') at++
    else if (path[at] === character) return at
  }
  return -1
}

/** Converts escaped characters: `\:` is a literal colon, which a pattern writes as `%3A`. */
function withEscapes(path: string): string {
  return path.replaceAll(/\\([\s\S])/g, (_, character: string) =>
    /[\w.~-]/.test(character)
      ? character
      : [...Buffer.from(character)]
          .map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`)
          .join(''),
  )
}

function refusal(path: string, origin: string, found: string, remedy: string): StartupError {
  return new StartupError(`The path '${path}' of ${origin} ${found}.`, {
    code: 'MORTAR_KOA_ROUTER_LAYER',
    remedy,
  })
}
