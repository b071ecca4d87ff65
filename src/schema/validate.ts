/**
 * Validates a value: returns the typed value or an `Invalid`, or a promise of either if the schema is asynchronous.
 * Stops after `limit` issues (21 by default). No input makes it throw; only errors of a schema's own functions are
 * passed on. The given value is never changed.
 */
export type Validate = (value: unknown, limit?: number) => unknown
