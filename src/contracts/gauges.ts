/** A number that can be read at any time, such as the length of a queue. */
export interface Gauge {
  /** Description, in one sentence. */
  readonly help: string
  /** Returns the current value; undefined while no value exists. It must be cheap and must not throw. */
  readonly read: () => number | undefined
  /** Meaning of the values of several processes together: their sum by default. */
  readonly combine?: 'sum' | 'max'
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
