/** Message of the primary process to a worker that another one has replaced. */
export const LEAVE = 'mortar:leave'

/**
 * Message of a worker that has begun to leave and accepts no more connections, and the reply of the primary process. All
 * connections that the primary process had passed to the worker before are ahead of the reply.
 */
export const CLOSED = 'mortar:closed'

/** Messages from a worker to its primary process about its start. */
export type FromWorker =
  | {
      readonly mortar: 'started'
      /** Seconds in which the worker ends after SIGTERM, at the latest. */
      readonly closesWithin: number
    }
  | {
      readonly mortar: 'failed'
      readonly message: string
      /** True for a fault of the configuration, which another attempt would not change. */
      readonly foreseen: boolean
    }

/** True for a message of a worker's own start. The application may send others. */
export function isFromWorker(message: unknown): message is FromWorker {
  const kind = (message as Partial<FromWorker> | null)?.mortar
  return kind === 'started' || kind === 'failed'
}

/** Why the primary process has replaced a worker without being asked. */
export type RestartReason = 'crash' | 'stuck' | 'memory'

/** State of all workers, as the primary process sees it. */
export interface WorkersState {
  /** For each worker, by its number from 1 on: true if it is ready and responds. */
  readonly up: readonly boolean[]
  /** Restarts since the start of the primary process. */
  readonly restarts: Readonly<Record<RestartReason, number>>
}

/** Question of the primary process, every second, to which a worker responds with a pulse. */
export interface Ping {
  readonly mortar: 'ping'
  readonly workers: WorkersState
}

/** True for a message of the primary process that asks for a pulse. */
export function isPing(message: unknown): message is Ping {
  return (message as Partial<Ping> | null)?.mortar === 'ping'
}

/** Sign of life of a worker. */
export interface Pulse {
  readonly mortar: 'pulse'
  /** Resident memory of its process, in bytes. */
  readonly memory: number
  /** True while a debugger can be attached, so that the worker may stand still on purpose. */
  readonly isInspected: boolean
}

/** True for the response to a ping. */
export function isPulse(message: unknown): message is Pulse {
  return (message as Partial<Pulse> | null)?.mortar === 'pulse'
}
