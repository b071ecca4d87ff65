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
