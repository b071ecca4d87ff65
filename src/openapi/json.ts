/** A JSON object of the document under construction. */
export type JsonObject = Record<string, unknown>

/** Leaves out the keys without a value and the lists without an item, so that the document says only what is there. */
export function withoutEmpty(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(
      ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  )
}

/** True for an object that is neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
