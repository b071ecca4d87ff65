import type { Logger } from 'mortar'

/** Returns a logger that adds each line to `lines`: the level, then each argument as JSON. */
export function recorder(lines: string[]): Logger {
  const at =
    (level: string) =>
    (...given: readonly unknown[]): void =>
      void lines.push(`${level} ${given.map((part) => JSON.stringify(part)).join(' ')}`)
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  }
  return logger
}
