/** A database of the soak's own, which it may break. */
export interface Engine {
  /** Name and version. */
  readonly title: string
  /** `DATABASE_URL` of the application. */
  readonly url: string
  /** Ways to break it, by name. Each resolves when the engine works again. */
  readonly faults: Readonly<Record<string, () => Promise<void>>>
  stop(): Promise<void>
}
