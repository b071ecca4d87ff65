/*
 * Reads why awilix could not resolve a service. awilix reports it only in the message of its error:
 *
 * - `Could not resolve 'x'`: the service that is missing.
 * - `shorter lifetime`: a service outlives one that it needs. `Cyclic`: services need each other.
 * - `Resolution path: a -> b`, in one line: the services that led there.
 *
 * Of an unknown message nothing is claimed: the error for the developer has its text. test/compat/awilix.test.ts changes
 * each of these words in a copy of awilix.
 */
import { AwilixResolutionError } from 'awilix/browser'

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
