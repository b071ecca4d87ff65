import { EventEmitter } from 'node:events'
import type { EventBus } from '../contracts/events.ts'
import type { Logger } from '../contracts/logger.ts'
import { describeError } from '../errors/describe-error.ts'

/** The event bus as the framework itself sees it. */
export interface ApplicationEvents extends EventBus {
  /** False when nobody listens, so that the event need not be made. */
  hasListeners(type: string): boolean
}

/** Makes the application's event bus; a listener that throws or rejects is logged. */
export function createEventBus(logger: Logger): ApplicationEvents {
  const emitter = new EventEmitter().setMaxListeners(0)
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
      emitter.on(prefixed(type), guarded)
      return () => void emitter.off(prefixed(type), guarded)
    },
    emit: (type, event) => void emitter.emit(prefixed(type), event),
    hasListeners: (type) => emitter.listenerCount(prefixed(type)) > 0,
    typed: () => bus,
  }
  function report(type: string, error: unknown): void {
    logger.error({ event: type, err: describeError(error) }, 'A listener of an event failed')
  }
  return bus
}

/** An event named `error` without a listener would throw; a prefix takes that meaning away. */
function prefixed(type: string): string {
  return `event:${type}`
}
