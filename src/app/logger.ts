import { createRequire } from 'node:module'
import { pino, type DestinationStream } from 'pino'
import type { Environment } from '../contracts/environment.ts'
import type { Logger } from '../contracts/logger.ts'

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
  const level = environment === 'test' ? 'silent' : 'info'
  const readable = environment === 'development' && process.stdout.isTTY
  const options = {
    level,
    redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
  }
  return readable ? pino(options, readableLines()) : pino(options)
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
  const guarded =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (...line: unknown[]): void => {
      try {
        ;(logger[level] as (...parts: unknown[]) => void)(...line)
      } catch {
        // There is nowhere left to say so.
      }
    }
  return {
    debug: guarded('debug'),
    info: guarded('info'),
    warn: guarded('warn'),
    error: guarded('error'),
    child: (bindings) => logger.child(bindings),
  }
}
