/** A number that can be read at any time, such as the length of a queue, or one for each value of a label. */
export interface Gauge {
  /** Description, in one sentence. */
  readonly help: string
  /**
   * Returns the current value; undefined while no value exists; with `label` the value of each label. It must be cheap
   * and must not throw.
   */
  readonly read: () => number | ReadonlyMap<string, number> | undefined
  /** Name of the label of the values in a map. A label has few values: never an identifier or an address. */
  readonly label?: string
  /** Meaning of the values of several processes together: their sum by default. */
  readonly combine?: 'sum' | 'max' | 'min'
  /** True for a number that only grows, such as a count of restarts. Its name ends with `_total`. */
  readonly isCounter?: boolean
}

/**
 * The gauges of an application: bricks and the application add them, and a brick such as `metrics` publishes them.
 * Without such a brick nothing reads them.
 */
export interface Gauges {
  /** Adds a gauge, or replaces the gauge of that name. Names are in lower case: `database_pool_waiting`. */
  add(name: string, gauge: Gauge): void
  /** All gauges by name. */
  readonly all: ReadonlyMap<string, Gauge>
}

/** Creates an empty list of gauges. */
export function createGauges(): Gauges {
  const all = new Map<string, Gauge>()
  return { all, add: (name, gauge) => void all.set(name, gauge) }
}
