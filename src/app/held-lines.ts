/** A writer of log lines. */
interface Lines {
  write(line: string): void
}

/** A stream that can delay lines. */
export interface HeldLines extends Lines {
  /** Writes a line at the end of this turn of the event loop, or within 10 ms of the write before. */
  hold(line: string): void
}

/** Milliseconds between two writes of delayed lines. */
const PAUSE = 10

/** Maximum characters to buffer: the size that a pipe accepts in one write. */
const MOST_HELD = 65_536

/** The flush functions of all streams, called when the process exits. */
const pending = new Set<() => void>()
let isWatchingExit = false

/**
 * Joins delayed lines into few writes, because a write costs more than the line in it. Every other line is written
 * immediately, after the lines that wait, so the order stays. `process.exit()` and an uncaught error lose nothing. A
 * process that is killed loses the request lines of its last 10 ms.
 */
export function holdLines(stream: Lines): HeldLines {
  let held = ''
  let lastWrite = 0
  const flush = (): void => {
    if (held === '') return
    const lines = held
    held = ''
    lastWrite = Date.now()
    pending.delete(flush)
    stream.write(lines)
  }
  return {
    write(line) {
      flush()
      stream.write(line)
    },
    hold(line) {
      if (held === '') {
        writeOnExit(flush)
        const wait = lastWrite + PAUSE - Date.now()
        if (wait > 0) setTimeout(flush, wait)
        else setImmediate(flush)
      }
      held += line
      if (held.length > MOST_HELD) flush()
    },
  }
}

function writeOnExit(flush: () => void): void {
  pending.add(flush)
  if (isWatchingExit) return
  isWatchingExit = true
  process.on('exit', () => {
    for (const write of pending) write()
  })
}
