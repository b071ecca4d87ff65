/*
 * What the container relies on in awilix beyond its types: the parts below, which every start checks, and the message of
 * a failed resolution, in which alone awilix reports the reason:
 *
 * - `Could not resolve 'x'`: the service that is missing.
 * - `shorter lifetime`: a service outlives one that it needs. `Cyclic`: services need each other.
 * - `Resolution path: a -> b`, in one line: the services that led there.
 *
 * Of an unknown message nothing is claimed: the error for the developer has its text. test/compat/awilix.test.ts changes
 * each of these words in a copy of awilix.
 */
import * as installedAwilix from 'awilix/browser'
import { StartupError } from '../errors/startup-error.ts'
import { installed } from '../peers/find-problems.ts'

const { AwilixResolutionError } = installedAwilix

/** The functions of awilix that make containers. */
type Awilix = Pick<typeof installedAwilix, 'asFunction' | 'createContainer'>
type Services = Record<string, unknown>
type Probe = ReturnType<typeof makeProbe>

/**
 * Without these parts, disposers would never run, or a singleton would keep the service of one request.
 * @throws StartupError `MORTAR_SERVICE_AWILIX` for a version of awilix that lacks one of them.
 */
export function checkAwilix(awilix: Awilix = installedAwilix): void {
  let probe: Probe | undefined
  const isThere = (part: string): boolean => {
    try {
      return PARTS[part]!((probe ??= makeProbe(awilix)))
    } catch {
      return false
    }
  }
  const lacking = Object.keys(PARTS).filter((part) => !isThere(part))
  if (lacking.length === 0) return
  throw new StartupError(`${installed('awilix', import.meta.url)} differs in ${lacking.join(', ')}.`, {
    code: 'MORTAR_SERVICE_AWILIX',
    remedy: 'Install the version that mortar names: `npm ls awilix` shows who asks for another one.',
  })
}

const PARTS: Readonly<Record<string, (probe: Probe) => boolean>> = {
  lifetimes: ({ container }) => container.registrations['part']!.lifetime === 'SCOPED',
  'the strict mode': ({ container }) => !resolves(container, 'keeper'),
  '`isLeakSafe`': ({ container }) => resolves(container, 'free'),
  'the cache of a scope': ({ scope }) =>
    resolves(scope, 'whole') &&
    [...scope.cache].map(([name, { value }]) => `${String(name)} ${String(value)}`).join() ===
      'part 1,whole 1',
  disposers: ({ scope, disposer }) =>
    (scope.cache.get('part')!.resolver as { readonly dispose?: unknown }).dispose === disposer,
}

/** Makes a container with scoped services and singletons that need them. */
function makeProbe({ asFunction, createContainer }: Awilix) {
  const disposer = (): void => {}
  const part = asFunction(() => 1).scoped()
  const container = createContainer<Services>({ strict: true }).register({
    part: part.disposer(disposer),
    whole: asFunction((services: Services) => services['part']).scoped(),
    keeper: asFunction((services: Services) => services['part']).singleton(),
    safe: asFunction(() => 1, { isLeakSafe: true }).scoped(),
    free: asFunction(({ safe }: Services) => safe).singleton(),
  })
  return { container, scope: container.createScope(), disposer }
}

function resolves(container: installedAwilix.AwilixContainer<Services>, name: string): boolean {
  try {
    return container.resolve(name) === 1
  } catch {
    return false
  }
}

/** A failed resolution. */
export interface FailedResolution {
  readonly kind: 'missing' | 'lifetime' | 'circular' | 'unknown'
  /** The service that could not be resolved, where the message names it. */
  readonly missing: string | undefined
  /** Services from the requested one to the failed one, as `a → b`. */
  readonly path: string | undefined
  /** True if a dependency failed, not the requested service itself. */
  readonly isNested: boolean
}

/** Reads the reason of a failed resolution; undefined for an error of a factory. */
export function readResolution(error: unknown): FailedResolution | undefined {
  if (!(error instanceof AwilixResolutionError)) return undefined
  const { message } = error
  return {
    kind: KINDS.find(([, words]) => words.test(message))?.[0] ?? 'unknown',
    missing: /Could not resolve '([^']+)'/.exec(message)?.[1],
    path: /Resolution path: (.+?)(?:\n|$)/.exec(message)?.[1]?.replaceAll(' -> ', ' → ').trim(),
    isNested: message.includes(' -> '),
  }
}

const KINDS: readonly (readonly [FailedResolution['kind'], RegExp])[] = [
  ['lifetime', /shorter lifetime/],
  ['circular', /Cyclic/],
  // A reason would follow the name.
  ['missing', /^Could not resolve '[^']+'\.\s*(Resolution path|$)/],
]
