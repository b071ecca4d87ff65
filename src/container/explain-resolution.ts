import { readResolution } from '../compat/awilix.ts'
import { StartupError } from '../errors/startup-error.ts'
import { ignore } from '../support/ignore.ts'
import { nearest } from '../support/nearest.ts'
import type { ServiceEntry } from './read-registration.ts'

/**
 * Turns a failed resolution into an error for the developer: the service, its owner, the dependency path and the
 * remedy. An error that a factory throws becomes the cause.
 */
export function explainResolution(
  error: unknown,
  name: string,
  owner: string,
  known: readonly string[],
): StartupError {
  if (error instanceof StartupError) return error
  const failed = readResolution(error)
  if (failed === undefined) return failedFactory(error, name, owner)
  const { kind, path = name, missing = name } = failed
  if (kind === 'lifetime') return shorterLifetime(path, owner, { cause: error })
  if (kind === 'circular') return circle(path, { cause: error })
  const guess = nearest(missing, known)
  return new StartupError(
    `The service '${name}' of ${owner} depends on '${missing}', which is not registered: ${path}.`,
    {
      code: 'MORTAR_SERVICE_MISSING',
      remedy: guess
        ? `Did you mean '${guess}'?`
        : `Use the brick that provides '${missing}', or app.provide it.`,
      cause: error,
    },
  )
}

/**
 * Returns the error for a resolution that failed during a request: an explained error if awilix refused it, or the
 * unchanged error of a factory.
 */
export function explainInRequest(
  error: unknown,
  name: string,
  owner: string,
  known: readonly string[],
): unknown {
  const failed = readResolution(error)
  if (failed === undefined) return error
  const message =
    failed.missing === name && !failed.isNested
      ? `No service is named '${name}'. Register it with app.provide or through a brick.`
      : explainResolution(error, name, owner, known).message
  return new Error(message, { cause: error })
}

function failedFactory(cause: unknown, name: string, owner: string): StartupError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new StartupError(`The service '${name}' of ${owner} could not be made: ${reason}`, {
    code: 'MORTAR_SERVICE_FACTORY',
    remedy: 'Fix its factory; the cause of this error has the stack.',
    cause,
  })
}

/**
 * The error for a singleton that is a promise: its users would get the promise, and a rejection would end the process.
 * A scoped service may be a promise, which a handler awaits.
 */
export function asynchronous(made: Promise<unknown>, name: string, owner: string): StartupError {
  made.catch(ignore)
  return new StartupError(`The singleton '${name}' of ${owner} is a promise: its factory is asynchronous.`, {
    code: 'MORTAR_SERVICE_PROMISE',
    remedy: `Make the object in the factory and connect it in the \`start\` of a brick, or await it before: ${name}: value(await …).`,
  })
}

function shorterLifetime(
  path: string,
  owner: string,
  options: { readonly cause?: unknown } = {},
): StartupError {
  return new StartupError(
    `A service depends on one with a shorter lifetime: ${path} (registered by ${owner}).`,
    {
      code: 'MORTAR_SERVICE_LIFETIME',
      remedy:
        'Give the first service the shorter lifetime, or the second one a longer lifetime: asClass() and asFunction() of awilix are transient unless they have another lifetime.',
      ...options,
    },
  )
}

function circle(path: string, options: { readonly cause?: unknown } = {}): StartupError {
  return new StartupError(`Services depend on each other in a circle: ${path}.`, {
    code: 'MORTAR_SERVICE_CIRCULAR',
    remedy: 'Move the shared part into a third service.',
    ...options,
  })
}

/**
 * Finds circles among the services of a request, and scoped services that depend on a transient of awilix, before the
 * first request. No factory runs: those that destructure their parameter read these services in any case. What other
 * factories read is reported by the request.
 * @throws StartupError `MORTAR_SERVICE_CIRCULAR`, `MORTAR_SERVICE_LIFETIME`
 */
export function checkRequestServices(entries: ReadonlyMap<string, ServiceEntry>): void {
  const finished = new Set<string>()
  const visit = (name: string, path: readonly string[]): void => {
    const entry = entries.get(name)
    if (finished.has(name) || (entry?.lifetime !== 'scoped' && entry?.lifetime !== 'transient')) return
    if (path.includes(name)) throw circle([...path.slice(path.indexOf(name)), name].join(' → '))
    const keeper = path.find((above) => entries.get(above)!.lifetime === 'scoped')
    if (keeper !== undefined && entry.lifetime === 'transient' && entry.resolver.isLeakSafe !== true)
      throw shorterLifetime([...path, name].join(' → '), entries.get(keeper)!.owner)
    for (const read of entry.native ? namesReadBy(entry.native.factory) : []) visit(read, [...path, name])
    finished.add(name)
  }
  // Scoped services first: a transient that they read is then visited below them.
  for (const kind of ['scoped', 'transient'] as const)
    for (const [name, { lifetime }] of entries) if (lifetime === kind) visit(name, [])
}

/** `({`, `async ({`, `function name({` and `method({`, at the beginning of a function's text. */
const DESTRUCTURES = /^(?:async\s+)?(?:function\b\s*)?[\w$]*\s*\(\s*\{/

/** Returns the names in the pattern of a destructured parameter; none if the pattern contains text or comments. */
function namesReadBy(factory: (services: never) => unknown): string[] {
  const source = Function.prototype.toString.call(factory)
  const start = DESTRUCTURES.exec(source)?.[0].length
  const items = ['']
  let depth = start === undefined ? 0 : 1
  for (let index = start ?? 0; depth > 0; index++) {
    const char = source[index]
    if (char === undefined || /['"`/]/.test(char)) return []
    if (/[[({]/.test(char)) depth += 1
    if (/[\])}]/.test(char)) depth -= 1
    if (char === ',' && depth === 1) items.push('')
    else items[items.length - 1] += char
  }
  return items.flatMap((item) => /^\s*([A-Za-z_$][\w$]*)\s*(?:[:=}]|$)/.exec(item)?.[1] ?? [])
}
