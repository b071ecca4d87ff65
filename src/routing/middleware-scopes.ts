import { segmentsOf } from '../support/url-path.ts'
import { canonicalOrRawPath } from './canonical-path.ts'
import { parsePattern, type Segment } from './path-pattern.ts'
import type { MiddlewareScope, NamedMiddleware } from './route.ts'

/**
 * The middleware of directories. Prefixes match on segment boundaries: `/admin` never covers `/administrators`.
 * Chains are outermost first: a shorter prefix before a longer one, then in the order of registration.
 */
export type Scopes = ReturnType<typeof createScopes>

interface Directory {
  readonly statics: Map<string, Directory>
  param: Directory | undefined
  rest: Directory | undefined
  readonly middleware: NamedMiddleware[]
}

/** Creates an empty set of scopes. */
export function createScopes() {
  const root = createDirectory()
  return {
    /** @throws StartupError for a bad prefix. */
    add({ prefix, middleware }: MiddlewareScope) {
      let directory = root
      for (const segment of parsePattern(prefix, middleware.origin)) directory = makeChild(directory, segment)
      directory.middleware.push(middleware)
    },
    /**
     * Returns the chain around the pattern of a route. A parameter in a prefix covers a parameter at the same position
     * with any name, because both come from one directory. It does not cover a static segment.
     */
    chainFor: (pattern: string) =>
      (isLeaf(root) ? root.middleware : collect(root, parsePattern(pattern), childOfPattern)).filter(
        (each) => each.onlyUnmatched !== true,
      ),
    /**
     * Returns the chain around a request path without a route. It matches prefixes in the order of routes: static before
     * parameter before catch-all. Never throws, so that a malformed path also has a chain.
     */
    chainForPath: (path: string) =>
      isLeaf(root) ? root.middleware : collect(root, segmentsOf(canonicalOrRawPath(path)), childOfPath),
  }
}

function createDirectory(): Directory {
  return { statics: new Map(), param: undefined, rest: undefined, middleware: [] }
}

function isLeaf({ statics, param, rest }: Directory): boolean {
  return statics.size === 0 && param === undefined && rest === undefined
}

function makeChild(parent: Directory, segment: Segment): Directory {
  if (segment.kind === 'param') return (parent.param ??= createDirectory())
  if (segment.kind === 'catch-all') return (parent.rest ??= createDirectory())
  const child = parent.statics.get(segment.value) ?? createDirectory()
  parent.statics.set(segment.value, child)
  return child
}

function childOfPattern(directory: Directory, segment: Segment): Directory | undefined {
  if (segment.kind === 'static') return directory.statics.get(segment.value)
  return segment.kind === 'param' ? directory.param : directory.rest
}

function childOfPath(directory: Directory, segment: string): Directory | undefined {
  return directory.statics.get(segment) ?? directory.param ?? directory.rest
}

function collect<S>(
  root: Directory,
  segments: readonly S[],
  childOf: (directory: Directory, segment: S) => Directory | undefined,
): NamedMiddleware[] {
  const chain = [...root.middleware]
  let directory: Directory | undefined = root
  for (const segment of segments) {
    directory = childOf(directory, segment)
    if (!directory) break
    chain.push(...directory.middleware)
  }
  return chain
}
