/**
 * Publishes what happened to whoever asked for it. Events by type; `Map` gives the payload of each type.
 * A listener that throws is logged and never disturbs the one who emitted.
 */
export interface EventBus<Map extends object = Record<string, object>> {
  /** @returns a function that takes the listener off again. */
  on<Type extends keyof Map & string>(type: Type, listener: (event: Map[Type]) => void): () => void
  emit<Type extends keyof Map & string>(type: Type, event: Map[Type]): void
  /** The same bus seen through another table of events: `app.events.typed<AuthEvents>()`. */
  typed<Other extends object>(): EventBus<Other>
}
