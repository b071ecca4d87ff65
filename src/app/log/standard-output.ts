import { writeSync } from 'node:fs'
import { keepUnblocked } from '../../compat/node.ts'
import { loadPino } from '../../support/lazy-packages.ts'

/** Maximum bytes that wait for a destination that does not accept them. */
const MOST_WAITING = 1_048_576

/** Milliseconds until the next attempt to write what waits. */
const RETRY = 100

/** Milliseconds for which an exit waits for a reader: enough for all that waits, at 64 kB for each attempt. */
const LONGEST_EXIT = 2000

const LINE_FEED = 10

/**
 * Returns a function that writes lines to standard output before it returns. It never throws, and never waits for a
 * reader. Bytes that cannot be written wait in memory, in their order; when 1 MiB waits, further lines are dropped and
 * counted. Standard error has one line when dropping begins and one when everything is written again.
 */
export function toStandardOutput(): (lines: Buffer) => void {
  return (output ??= openOutput())
}

/** All loggers of the process share it, so that their lines wait in one order and within one limit. */
let output: ((lines: Buffer) => void) | undefined

/** Lines of this process that were dropped, and how many of them a line on standard error has reported. */
let dropped = 0
let reported = 0

/** Returns how many lines of this process were dropped. */
export function droppedLines(): number {
  return dropped
}

function openOutput(): (lines: Buffer) => void {
  const stdout = loadPino().destination({
    sync: true,
    contentMode: 'buffer',
    maxLength: MOST_WAITING,
    // flush() does nothing without a minimum. Each line is longer.
    minLength: 1,
    // To retry, sonic-boom sleeps, and another process may make the pipe blocking meanwhile.
    retryEAGAIN: () => false,
  })
  let retry: NodeJS.Timeout | undefined
  let reason = ''
  const flush = (): void => {
    retry = undefined
    keepUnblocked(process.stdout)
    stdout.flush()
  }
  stdout.on('error', ({ code = 'EIO' }: NodeJS.ErrnoException) => {
    reason = code
    // A closed pipe never opens again.
    if (code !== 'EPIPE') retry ??= setTimeout(flush, RETRY).unref()
  })
  const reportEnd = (): void => {
    tell(`The log can be written again. Dropped lines: ${dropped - reported}.`)
    reported = dropped
  }
  // Its types omit what it emits and accepts with these options.
  stdout.on('drop', (lines: unknown) => {
    if (dropped === reported) {
      stdout.once('drain', reportEnd)
      tell(`The log cannot be written (${reason}). Lines are dropped until it can be written.`)
    }
    dropped += countLines(lines as Buffer)
  })
  const isBlockedAfterFlush = (): boolean => {
    reason = ''
    flush()
    return reason === 'EAGAIN'
  }
  process.once('exit', () => {
    const until = performance.now() + LONGEST_EXIT
    while (isBlockedAfterFlush() && performance.now() < until) sleep(RETRY)
  })
  return (lines) => {
    keepUnblocked(process.stdout)
    stdout.write(lines as unknown as string)
  }
}

/** Blocks the process for this many milliseconds. */
function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Writes a line to standard error, unless that cannot be written either. */
function tell(message: string): void {
  try {
    keepUnblocked(process.stderr)
    writeSync(process.stderr.fd, `mortar: ${message}\n`)
  } catch {
    // There is no other place to report it.
  }
}

function countLines(lines: Buffer): number {
  let count = 0
  for (let at = lines.indexOf(LINE_FEED); at !== -1; at = lines.indexOf(LINE_FEED, at + 1)) count += 1
  return count
}
