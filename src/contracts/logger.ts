/** The part of pino's interface that the framework writes to; any logger with these methods is accepted. */
export interface Logger {
  debug(fields: object, message?: string): void
  debug(message: string): void
  info(fields: object, message?: string): void
  info(message: string): void
  warn(fields: object, message?: string): void
  warn(message: string): void
  error(fields: object, message?: string): void
  error(message: string): void
  child(bindings: Record<string, unknown>): Logger
}
