import type { Logger } from 'mortar'

/** Returns a logger that passes the level and the arguments of each line to `write`. Its children do the same. */
export function loggerTo(write: (level: string, given: readonly unknown[]) => void): Logger {
  const at =
    (level: string) =>
    (...given: readonly unknown[]): void =>
      write(level, given)
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  }
  return logger
}

/** Returns a logger that adds each line to `lines`: the level, then each argument as JSON. */
export function recorder(lines: string[]): Logger {
  return loggerTo(
    (level, given) => void lines.push(`${level} ${given.map((part) => JSON.stringify(part)).join(' ')}`),
  )
}
