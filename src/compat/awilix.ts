/*
 * What a failed resolution of awilix says in the message of its error, the only place where awilix says it:
 *
 * - `Could not resolve 'x'`: the service that is missing.
 * - `shorter lifetime`: a service outlives one that it needs. `Cyclic`: services need each other.
 * - `Resolution path: a -> b`, in one line: the services that led there.
 *
 * A message that is not understood is a missing service with an unknown path; the error stays the cause. Checked by
 * test/compat/awilix.test.ts.
 */
import { AwilixResolutionError } from '#awilix'

/** A failed resolution. */
export interface FailedResolution {
  readonly kind: 'missing' | 'lifetime' | 'circular'
  /** The service that could not be resolved, where the message names it. */
  readonly missing: string | undefined
  /** Services from the one that was asked for to the one that failed, as `a → b`. */
  readonly path: string | undefined
  /** True when a service that something else needs failed, and not the one that was asked for. */
  readonly isNested: boolean
}

/** Reads why awilix could not resolve a service; undefined for an error of a factory. */
export function readResolution(error: unknown): FailedResolution | undefined {
  if (!(error instanceof AwilixResolutionError)) return undefined
  const { message } = error
  return {
    kind: message.includes('shorter lifetime')
      ? 'lifetime'
      : message.includes('Cyclic')
        ? 'circular'
        : 'missing',
    missing: /Could not resolve '([^']+)'/.exec(message)?.[1],
    path: /Resolution path: (.+?)(?:\n|$)/.exec(message)?.[1]?.replaceAll(' -> ', ' → ').trim(),
    isNested: message.includes(' -> '),
  }
}
