/** Returns a function that makes a value at its first call and returns the same value afterwards. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** Calls `make` once for each schema object, also if several routes share it, because schemas are immutable. */
export function oncePerSchema<S extends object, Made>(make: (schema: S) => Made): (schema: S) => Made {
  const made = new WeakMap<S, Made>()
  return (schema) => {
    const known = made.get(schema)
    if (known !== undefined) return known
    const fresh = make(schema)
    made.set(schema, fresh)
    return fresh
  }
}
