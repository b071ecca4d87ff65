import type { EventBus } from '../contracts/events.ts'
import type { Logger } from '../contracts/logger.ts'
import { describeError } from '../errors/describe-error.ts'

/** The event bus as the framework itself sees it. */
export interface ApplicationEvents extends EventBus {
  /** False without listeners, so that the event need not be created. */
  hasListeners(type: string): boolean
}

/** Creates the application's event bus. Errors of listeners are logged. */
export function createEventBus(logger: Logger): ApplicationEvents {
  const listeners = new Map<string, Set<(event: object) => void>>()
  const bus: ApplicationEvents = {
    on(type, listener) {
      const guarded = (event: object): void => {
        try {
          const result: unknown = listener(event)
          if (result instanceof Promise) result.catch((error: unknown) => report(type, error))
        } catch (error) {
          report(type, error)
        }
      }
      listeners.set(type, (listeners.get(type) ?? new Set()).add(guarded))
      return () => {
        const left = listeners.get(type)
        if (left?.delete(guarded) && left.size === 0) listeners.delete(type)
      }
    },
    emit(type, event) {
      // A copy: a listener may add or remove others.
      for (const listener of new Set(listeners.get(type))) listener(event)
    },
    hasListeners: (type) => listeners.has(type),
    typed: () => bus,
  }
  function report(type: string, error: unknown): void {
    logger.error({ event: type, err: describeError(error) }, 'A listener of an event failed')
  }
  return bus
}
