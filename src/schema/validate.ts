/**
 * Validates a value: returns the typed value or an `Invalid`, or a promise of either only when the schema is
 * asynchronous. Looks no further once `limit` issues are found (21 by default). No input makes it throw: only what a
 * schema's own functions throw comes through. The given value is never changed.
 */
export type Validate = (value: unknown, limit?: number) => unknown
