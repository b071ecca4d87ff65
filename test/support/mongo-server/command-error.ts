import type { Document } from 'bson'

/** A failure with MongoDB's number and name for it, as clients read them. */
export class CommandError extends Error {
  readonly code: number
  readonly details: Document

  constructor(code: keyof typeof NAMES, message: string, details: Document = {}) {
    super(message)
    this.code = code
    this.details = details
  }

  /** The response to a command that failed. */
  toReply(): Document {
    const codeName = NAMES[this.code as keyof typeof NAMES]
    return { ok: 0, errmsg: this.message, code: this.code, codeName, ...this.details }
  }
}

const NAMES = {
  2: 'BadValue',
  9: 'FailedToParse',
  26: 'NamespaceNotFound',
  27: 'IndexNotFound',
  43: 'CursorNotFound',
  48: 'NamespaceExists',
  59: 'CommandNotFound',
  66: 'ImmutableField',
  86: 'IndexKeySpecsConflict',
  11000: 'DuplicateKey',
} as const

/** MongoDB's response when a write would give two documents the same key of a unique index. */
export function duplicateKey(
  namespace: string,
  index: string,
  pattern: Document,
  key: Document,
): CommandError {
  return new CommandError(
    11000,
    `E11000 duplicate key error collection: ${namespace} index: ${index} dup key: ${JSON.stringify(key)}`,
    { keyPattern: pattern, keyValue: key },
  )
}
