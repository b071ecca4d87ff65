/** A stream that can delay lines. */
export type HeldLines = ReturnType<typeof holdLines>

/** Milliseconds between two writes of delayed lines. */
const PAUSE = 10

/** Maximum bytes to buffer: the size that a pipe accepts in one write. */
const MOST_HELD = 65_536

/** Maximum bytes of UTF-8 for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3

/** The flush functions of all streams, called when the process exits. */
const pending = new Set<() => void>()
let isWatchingExit = false

/**
 * Joins delayed lines into few writes, because a write costs more than the line in it. They wait as bytes: strings would
 * keep the URLs of their requests in memory, and the garbage collector would move them. Every other line is written
 * immediately, after the lines that wait, so the order stays. `process.exit()` and an uncaught error lose nothing. A
 * process that is killed loses the request lines of its last 10 ms.
 * @param write gets bytes that it may keep.
 */
export function holdLines(write: (lines: Buffer) => void) {
  const held = Buffer.allocUnsafeSlow(MOST_HELD)
  let size = 0
  let lastWrite = 0
  const flush = (): void => {
    if (size === 0) return
    const lines = Buffer.from(held.subarray(0, size))
    size = 0
    lastWrite = performance.now()
    pending.delete(flush)
    write(lines)
  }
  const writeNow = (line: string): void => {
    flush()
    write(Buffer.from(line))
  }
  return {
    /** Writes a line now, after the lines that wait. */
    write: writeNow,
    /** Writes a line at the end of this turn of the event loop, or within 10 ms of the write before. */
    hold(line: string) {
      const most = line.length * BYTES_PER_UNIT
      if (most > MOST_HELD) return writeNow(line)
      if (size + most > MOST_HELD) flush()
      if (size === 0) {
        writeOnExit(flush)
        const wait = lastWrite + PAUSE - performance.now()
        if (wait > 0) setTimeout(flush, wait)
        else setImmediate(flush)
      }
      size += held.write(line, size)
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
