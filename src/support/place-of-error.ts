import { fileURLToPath } from 'node:url'
import { shownPath } from './shown-path.ts'

/**
 * Returns where the application's code caused an error, as `note-service.ts:12:3`: the first line of the stack that
 * belongs neither to Node nor to a package, or the place of a syntax error. Undefined if the stack has none.
 */
export function placeOfError(error: unknown): string | undefined {
  const stack = (error as { readonly stack?: unknown } | null | undefined)?.stack
  for (const line of typeof stack === 'string' ? stack.split('\n') : []) {
    const [, url, path, at] = PLACE.exec(line) ?? []
    if (at === undefined || line.includes('node_modules')) continue
    const file = url === undefined ? path! : fileURLToPath(url)
    return `${shownPath(file)}:${at}`
  }
  return undefined
}

/** A file URL or an absolute path with its line, at the begin or the end of a line. A reload adds a query. */
const PLACE = /(?:^|[\s(])(?:(file:\/\/[^\s?)]+?)|((?:\/|[A-Z]:\\)[^?)]+?))(?:\?[^:\s)]*)?:(\d+(?::\d+)?)\)?$/

/** A place in the code of the application. Its stack is formatted when it is first read. */
export interface CodePlace {
  readonly stack?: string
}

/** A function of the application, or a package, may add its routes. */
const FRAMES = 5

/** Records where the application called a function, for `placeOfError`: some 5 µs, because nothing is formatted. */
export function callerOf(called: (...given: never[]) => unknown): CodePlace {
  const place: CodePlace = {}
  const { stackTraceLimit } = Error
  // With `node --frozen-intrinsics` an assignment throws.
  Reflect.set(Error, 'stackTraceLimit', FRAMES)
  Error.captureStackTrace(place, called)
  Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  return place
}
