/** Returns a function that makes a value at its first call and returns the same value afterwards. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** Calls `make` once for each object, such as a schema that several routes share: schemas are immutable. */
export function oncePerObject<S extends object, Made>(make: (schema: S) => Made): (schema: S) => Made {
  const made = new WeakMap<S, Made>()
  return (schema) => {
    if (!made.has(schema)) made.set(schema, make(schema))
    return made.get(schema) as Made
  }
}
