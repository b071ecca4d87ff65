import { hostname } from 'node:os'
import type { DestinationStream, Logger as PinoLogger, LogFn } from 'pino'
import type { Logger } from '../../contracts/logger.ts'
import { findPeerProblems } from '../../peers/find-problems.ts'
import { hasPeer, loadPeer } from '../../peers/load-peer.ts'
import { installCommand } from '../../peers/package-manager.ts'
import type { PeerNeed } from '../../peers/peers.ts'
import { applicationVersion } from '../../support/env/environment.ts'
import { loadPino } from '../../support/lazy-packages.ts'
import { redact, redactFields } from '../../support/redact.ts'
import { redactText } from '../../support/redact-text.ts'
import { holdLines, type HeldLines } from './held-lines.ts'
import { REQUEST_COMPLETED, requestLine, type RequestCompleted } from './request-completed.ts'
import { createRequestLine } from './request-log.ts'
import { toStandardOutput } from './standard-output.ts'

/** Key of the logger method that writes the log line of a request. */
export const REQUEST_LINE: unique symbol = Symbol('request line')

/** A logger that the framework created. */
export interface OwnLogger extends Logger {
  readonly [REQUEST_LINE]: (completed: RequestCompleted) => unknown
}

/**
 * Creates a pino logger that removes secrets from every line, at every depth, child loggers included. A level that is
 * off costs nothing.
 * @param readable true for readable lines on a terminal instead of JSON.
 */
export function createPinoLogger(
  level: string,
  readable: boolean,
  destination?: DestinationStream,
): OwnLogger {
  const { pino } = loadPino()
  const version = applicationVersion()
  const options = {
    level,
    ...(version !== undefined && { base: { pid: process.pid, hostname: hostname(), version } }),
    hooks: {
      logMethod(this: PinoLogger, line: Parameters<LogFn>, write: LogFn) {
        write.apply(this, redactLine(line))
      },
    },
    // The error is already a plain object; pino's own serializer would show its type as "Object".
    serializers: { err: (error: unknown) => error },
  }
  const isPlain = readable && destination === undefined && !hasPeer('pino-pretty', prettyNeed)
  const stream = destination ?? (readable && !isPlain ? readableLines() : undefined)
  const lines = holdLines(
    stream === undefined ? toStandardOutput() : (bytes) => stream.write(bytes.toString()),
  )
  const logger = pino(options, lines)
  const { child } = logger
  // Child loggers inherit this method; the hook does not see their bindings.
  logger.child = function redactBindings(this: PinoLogger, bindings, given) {
    return child.call(this, redactFields(bindings), given)
  } as typeof child
  if (isPlain)
    logger.info(`For readable lines in development: ${installCommand(findPeerProblems(prettyNeed.peers))}`)
  return Object.assign(logger, { [REQUEST_LINE]: requestWriter(logger, readable, lines) })
}

function requestWriter(
  logger: PinoLogger,
  readable: boolean,
  lines: HeldLines,
): OwnLogger[typeof REQUEST_LINE] {
  // On a terminal each line is written immediately.
  if (readable) return (completed) => logger.info(...requestLine(completed))
  const line = createRequestLine()
  return (completed) => {
    if (logger.isLevelEnabled('info')) lines.hold(line(completed))
  }
}

/** Arguments of pino's methods: an object or an error first, or a message with its values. */
function redactLine([first, ...rest]: readonly unknown[]): Parameters<LogFn> {
  const others = rest.map(redact)
  if (first instanceof Error) {
    const [message = redactText(first.message), ...values] = others
    return [{ err: redact(first) }, message, ...values] as unknown as Parameters<LogFn>
  }
  const shown = typeof first === 'object' && first !== null ? redactFields(first) : redact(first)
  return [shown, ...others] as unknown as Parameters<LogFn>
}

/** Fields of a request line that its message already contains. */
const IN_MESSAGE = 'event,requestId,ip,method,path,route,status,ms'

const prettyNeed: PeerNeed = {
  of: 'the log of a terminal',
  peers: { from: import.meta.url, packages: ['pino-pretty'], development: true },
}

/** Loads pino-pretty, only for a terminal: a service in production never needs it. */
function readableLines(): DestinationStream {
  const pretty = loadPeer<(options: object) => DestinationStream>('pino-pretty', prettyNeed)
  const options = { translateTime: 'HH:MM:ss', sync: true }
  const lines = pretty({ ...options, ignore: 'pid,hostname,version' })
  const requests = pretty({ ...options, ignore: `pid,hostname,version,${IN_MESSAGE}` })
  return {
    write: (line) => (line.includes(`"event":"${REQUEST_COMPLETED}"`) ? requests : lines).write(line),
  }
}
