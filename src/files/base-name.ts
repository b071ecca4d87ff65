import { METHODS, type Method } from '../routing/route.ts'
import { nearest } from '../support/nearest.ts'
import type { Finding } from '../routing/finding.ts'
import { ownSpelling } from './parse-segment.ts'

/**
 * The meaning of a file's name without its folders. `module` is the name without extension, the same for `x.get.ts` and
 * `x.get.js`.
 */
export type BaseName =
  | { readonly kind: 'ignored'; readonly warning?: string }
  | { readonly kind: 'middleware'; readonly module: string }
  | {
      readonly kind: 'route'
      readonly module: string
      readonly method: Method
      /** Protocol that the route changes to; undefined for a route of a method. */
      readonly protocol?: string
      /** The part before the method, not yet parsed as a segment; undefined for `index`. */
      readonly segment: string | undefined
      readonly warning?: string
    }
  | { readonly kind: 'broken'; readonly segment: string | undefined; readonly finding: Finding }

const MODULE = /^(?<module>.+)\.(?:[mc]?[jt]s|[jt]sx)$/
const NOT_A_ROUTE = /\.(?:test|spec|d)\.[mc]?[jt]sx?$/
const VERBS: readonly string[] = METHODS.map((method) => method.toLowerCase())
const LIST = VERBS.join(', ')

/** Endings in place of a method, for routes that a brick makes: the requests are GET and change to this protocol. */
const PROTOCOLS: Readonly<Record<string, string>> = { ws: 'websocket' }

// Words that users write for a method and that are not misspellings of one.
const INTENTIONS: Readonly<Record<string, string>> = {
  add: 'post',
  controller: 'get',
  create: 'post',
  del: 'delete',
  destroy: 'delete',
  edit: 'patch',
  fetch: 'get',
  find: 'get',
  gte: 'get',
  handler: 'get',
  insert: 'post',
  list: 'get',
  load: 'get',
  modify: 'patch',
  read: 'get',
  remove: 'delete',
  replace: 'put',
  route: 'get',
  routes: 'get',
  save: 'put',
  server: 'get',
  show: 'get',
  update: 'patch',
  upsert: 'put',
}

/** True for a folder without routes: private (`_lib`), hidden (`.git`), or installed packages. */
export function isIgnoredFolder(name: string): boolean {
  return name.startsWith('_') || name.startsWith('.') || name === 'node_modules'
}

/** Parses a file name without folders. Pure: it does not read the disk. */
export function parseBaseName(name: string): BaseName {
  const module = MODULE.exec(name)?.groups?.module
  if (module === undefined || NOT_A_ROUTE.test(name)) return { kind: 'ignored' }
  const extension = name.slice(module.length)
  if (name.startsWith('.')) return hiddenFile(name, extension)
  if (name.startsWith('_')) return privateFile(module, extension)
  const parsed = routeFile(module, extension)
  if (!/^\.c[jt]s$/.test(extension)) return parsed
  // Routes are ES modules. Without a message the route would be missing for no visible reason.
  return parsed.kind === 'route'
    ? { kind: 'ignored', warning: `is CommonJS and not read; rename it to ${module}.${extension.slice(2)}.` }
    : { kind: 'ignored' }
}

function hiddenFile(name: string, extension: string): BaseName {
  const verb = name.slice(1, -extension.length).toLowerCase()
  if (!VERBS.includes(verb)) return { kind: 'ignored' }
  return {
    kind: 'broken',
    segment: undefined,
    finding: {
      code: 'MORTAR_ROUTE_NAME_MISSING',
      found: 'begins with its method',
      remedy: `Put a name in front: index.${verb}${extension} is the folder's own path.`,
    },
  }
}

function privateFile(module: string, extension: string): BaseName {
  if (extension.startsWith('.c')) return { kind: 'ignored' }
  if (module === '_middleware') return { kind: 'middleware', module }
  if (/^_middleware(?:\.|$)/i.test(module))
    return {
      kind: 'broken',
      segment: undefined,
      finding: {
        code: 'MORTAR_ROUTE_MIDDLEWARE_NAME',
        found: 'looks like middleware and would never run',
        remedy: `Rename it to _middleware${extension}, which wraps every route of its folder, whatever the method.`,
      },
    }
  return nearest(module, ['_middleware']) === undefined
    ? { kind: 'ignored' }
    : {
        kind: 'ignored',
        warning: `is private and never runs as middleware; did you mean _middleware${extension}?`,
      }
}

function routeFile(module: string, extension: string): BaseName {
  const dot = methodDot(module)
  const name = dot === -1 ? module : module.slice(0, dot)
  const method = dot === -1 ? undefined : module.slice(dot + 1)
  const segment = name === 'index' ? undefined : name
  if (method !== undefined && VERBS.includes(method))
    return { kind: 'route', module, method: method.toUpperCase() as Method, segment, ...nameWarning(name) }
  if (method !== undefined && Object.hasOwn(PROTOCOLS, method))
    return {
      kind: 'route',
      module,
      method: 'GET',
      protocol: PROTOCOLS[method]!,
      segment,
      ...nameWarning(name),
    }
  const own = ownSpelling(name)
  // The remedy has the right spelling of the segment too, so that it is not a second fault.
  return {
    kind: 'broken',
    segment: own === 'index' ? undefined : own,
    finding: methodFinding(own, method, extension),
  }
}

/**
 * Returns the start of the method: the last dot outside brackets. Dots of `[...path]` and of an unclosed `[...path`
 * belong to the catch-all.
 */
function methodDot(module: string): number {
  const dot = module.lastIndexOf('.')
  return dot < module.lastIndexOf(']') || /\[\.*$/.test(module.slice(0, dot)) ? -1 : dot
}

function methodFinding(name: string, method: string | undefined, extension: string): Finding {
  if (method === undefined) return missingMethodFinding(name, extension)
  const verb = method.toLowerCase()
  if (VERBS.includes(verb))
    return {
      code: 'MORTAR_ROUTE_METHOD_CASE',
      found: `has its method as "${method}"`,
      remedy: `Write the method in lower case: ${name}.${verb}${extension}.`,
    }
  const near = Object.hasOwn(INTENTIONS, verb) ? INTENTIONS[verb] : nearest(verb, VERBS)
  return {
    code: 'MORTAR_ROUTE_METHOD_UNKNOWN',
    found: `has the unknown method "${method}"`,
    remedy: near
      ? `Did you mean ${name}.${near}${extension}? The methods are ${LIST}.`
      : `Put one of ${LIST} last: ${name}.${method}.get${extension}; or make the file private with a leading "_".`,
  }
}

function missingMethodFinding(name: string, extension: string): Finding {
  const get = `Put the method in the name: ${name}.get${extension} (or ${VERBS.slice(1).join(', ')})`
  const question = likelyMeaning(name.toLowerCase(), extension)
  return {
    code: 'MORTAR_ROUTE_METHOD_MISSING',
    found: 'has no method in its name',
    remedy:
      question === undefined
        ? `${get}, or make the file private: _${name}${extension}.`
        : `Did you mean ${question}? ${get}.`,
  }
}

/** Returns what a name without a method means in other frameworks. */
function likelyMeaning(name: string, extension: string): string | undefined {
  if (name === 'middleware') return `_middleware${extension}, which wraps every route of its folder`
  if (name === 'route' || name === 'page') return `index.get${extension}, the folder's own path`
  return VERBS.includes(name) ? `index.${name}${extension}, the folder's own path` : undefined
}

/** Warns about valid names that are probably mistakes. */
function nameWarning(name: string): { warning: string } | undefined {
  const last = name.slice(name.lastIndexOf('.') + 1)
  if (name !== last && VERBS.includes(last))
    return { warning: `answers one method only, and "${name}" is its path; write one file for each method.` }
  if (name !== 'index' && name.toLowerCase() === 'index')
    return { warning: `has the path "${name}"; the folder's own path is "index" in lower case.` }
  return undefined
}
