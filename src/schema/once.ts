/** A function that makes something at its first call and gives the same at every other. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/**
 * Gives what `make` makes of a schema, made once for each schema object however many routes share it: schemas are never
 * changed once they are made.
 */
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
