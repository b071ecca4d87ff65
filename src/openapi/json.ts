/** A JSON object of the document under construction. */
export type JsonObject = Record<string, unknown>

/** Removes keys without a value and lists without an item. */
export function withoutEmpty(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(
      ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  )
}
