import { createRequire } from 'node:module'
import type { DestinationStream } from 'pino'
import type { Environment } from '../contracts/environment.ts'
import type { Logger } from '../contracts/logger.ts'
import { isCommand } from '../support/environment.ts'
import { loadPino } from '../support/lazy-packages.ts'

/** Fields that never reach a log line, wherever they stand in a logged object. */
const SECRETS = [
  'password',
  'authorization',
  'cookie',
  'access_token',
  'accessToken',
  'refreshToken',
  'token',
  'secret',
]

/**
 * The logger of an application that brings none: pino, one JSON object a line in production, readable lines on a
 * terminal in development, silent under test.
 */
export function createLogger(environment: Environment): Logger {
  // What a command prints on standard output is data.
  if (isCommand()) return commandLogger
  if (environment === 'test') return silentLogger
  return onFirstLine(() => {
    const { pino } = loadPino()
    return environment === 'development' && process.stdout.isTTY
      ? pino(OPTIONS, readableLines())
      : pino(OPTIONS)
  })
}

const OPTIONS = {
  redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
}

/** A logger that is made when it has something to write or a request asks for it: pino costs 15 ms and some MB. */
function onFirstLine(create: () => Logger): Logger {
  let made: Logger | undefined
  const logger = (): Logger => (made ??= create())
  return loggerBy(
    (level, line) => writeTo(logger(), level, line),
    (bindings) => logger().child(bindings),
  )
}

/** Loaded only for a terminal: a service in production never needs it. */
function readableLines(): DestinationStream {
  const pretty = createRequire(import.meta.url)('pino-pretty') as (options: object) => DestinationStream
  return pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss', sync: true })
}

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
}

/** The same logger for the framework's own lines: one that throws must not turn an answer into a crash. */
export function unfailing(logger: Logger): Logger {
  return loggerBy(
    (level, line) => {
      try {
        writeTo(logger, level, line)
      } catch {
        // There is nowhere left to say so.
      }
    },
    (bindings) => logger.child(bindings),
  )
}

type Level = 'debug' | 'info' | 'warn' | 'error'

function loggerBy(write: (level: Level, line: readonly unknown[]) => void, child: Logger['child']): Logger {
  const at =
    (level: Level) =>
    (...line: unknown[]): void =>
      write(level, line)
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
