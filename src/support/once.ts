/** Returns a function that makes a value at its first call and returns the same value afterwards. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Calls `make` once for each object, such as a schema that several routes share: nothing may change it afterwards. */
export function oncePerObject<S extends object, Made>(make: (object: S) => Made): (object: S) => Made {
  const made = new WeakMap<S, Made>()
  return (object) => {
    if (!made.has(object)) made.set(object, make(object))
    return made.get(object) as Made
  }
}
