/** Returns a function that makes a value at its first call and returns the same value afterwards. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Calls `make` once for each object, such as a schema that several routes share: schemas are immutable. */
export function oncePerObject<S extends object, Made>(make: (schema: S) => Made): (schema: S) => Made {
  const made = new WeakMap<S, Made>()
  return (schema) => {
    if (!made.has(schema)) made.set(schema, make(schema))
    return made.get(schema) as Made
  }
}
