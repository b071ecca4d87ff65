import { type Environment, isCommand } from '../../support/env/environment.ts'
import type { Logger } from '../../contracts/logger.ts'
import { env, type Env } from '../../support/env/env.ts'
import { wrongOption } from '../../support/check-options.ts'
import { createPinoLogger, REQUEST_LINE, type OwnLogger } from './pino-logger.ts'
import { requestLine, type RequestCompleted, type WriteRequestLine } from './request-completed.ts'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const DEFAULT_LEVELS = { development: 'debug', test: 'silent', production: 'info' } as const

/**
 * Creates the default logger: pino at the level of `LOG_LEVEL`, by default `debug` in development, `info` in production
 * and `silent` under test. It writes one JSON object per line, or readable lines on a terminal in development.
 * @throws StartupError (`MORTAR_ENV`) for a `LOG_LEVEL` that does not exist.
 */
export function createLogger(environment: Environment, read: Env = env): Logger {
  // The standard output of a command is data, so its log goes to standard error.
  if (isCommand()) return commandLogger
  const level = read.oneOf('LOG_LEVEL', LEVELS, { default: DEFAULT_LEVELS[environment] })
  if (level === 'silent') return silentLogger
  const readable = environment === 'development' && process.stdout.isTTY
  return onFirstLine(level, () => createPinoLogger(level, readable))
}

/** Returns the logger of the options. @throws StartupError for an object without the methods of a logger. */
export function givenLogger(logger: Logger | undefined): Logger | undefined {
  if (logger === undefined) return undefined
  const methods = ['debug', 'info', 'warn', 'error', 'child'] as const
  const missing = methods.filter((name) => typeof logger[name] !== 'function')
  if (missing.length === 0) return logger
  const remedy = 'Pass a logger with debug, info, warn, error and child, such as pino(), or false for none.'
  throw wrongOption('logger', `is an object without the methods ${missing.join(', ')}`, remedy)
}

/**
 * Returns the function that writes the log line of a request; it never throws. The framework's own logger has a faster
 * method for these lines; a logger of the application gets the fields and the message.
 */
export function requestLineWriter(logger: Logger & Partial<OwnLogger>): WriteRequestLine {
  const write =
    logger[REQUEST_LINE] ?? ((completed: RequestCompleted) => logger.info(...requestLine(completed)))
  return (completed) => {
    try {
      write(completed)
    } catch {
      // The logger itself failed, so the error cannot be logged.
    }
  }
}

/** A logger that is created on its first line or when a request reads it: pino costs 15 ms and some MB. */
function onFirstLine(lowest: (typeof LEVELS)[number], create: () => OwnLogger): OwnLogger {
  let made: OwnLogger | undefined
  const logger = (): OwnLogger => (made ??= create())
  const isWritten = (level: Level): boolean => LEVELS.indexOf(level) >= LEVELS.indexOf(lowest)
  const first = loggerBy(
    (level, line) => isWritten(level) && writeTo(logger(), level, line),
    (bindings) => logger().child(bindings),
  )
  return {
    ...first,
    [REQUEST_LINE]: (completed) => isWritten('info') && logger()[REQUEST_LINE](completed),
  }
}

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
}

/** Wraps a logger for the framework's own lines: a logger that throws must not crash a request. */
export function unfailing(logger: Logger): Logger {
  return loggerBy(
    (level, line) => {
      try {
        writeTo(logger, level, line)
      } catch {
        // The logger itself failed, so the error cannot be logged.
      }
    },
    (bindings) => logger.child(bindings),
  )
}

type Level = 'debug' | 'info' | 'warn' | 'error'

function loggerBy(
  write: (level: Level, line: readonly unknown[]) => unknown,
  child: Logger['child'],
): Logger {
  const at =
    (level: Level) =>
    (...line: unknown[]): void => {
      write(level, line)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child }
}

function writeTo(logger: Logger, level: Level, line: readonly unknown[]): void {
  ;(logger[level] as (...parts: readonly unknown[]) => void)(...line)
}

/** Warnings and errors as plain lines on standard error, for a command of the CLI. */
const commandLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (...given: readonly unknown[]) => writeLine('warning', given),
  error: (...given: readonly unknown[]) => writeLine('error', given),
  child: () => commandLogger,
}

function writeLine(kind: string, given: readonly unknown[]): void {
  const text = given.find((part) => typeof part === 'string')
  if (text !== undefined) process.stderr.write(`${kind}: ${text}\n`)
}
