/**
 * Publishes events to listeners of this process by type, and keeps none; `Map` gives the payload of each type. An error of a listener is logged and
 * does not affect the emitter.
 */
export interface EventBus<Map extends object = Record<string, object>> {
  /** @returns a function that removes the listener. */
  on<Type extends keyof Map & string>(type: Type, listener: (event: Map[Type]) => void): () => void
  emit<Type extends keyof Map & string>(type: Type, event: Map[Type]): void
  /** The same bus seen through another table of events: `app.events.typed<AuthEvents>()`. */
  typed<Other extends object>(): EventBus<Other>
}
