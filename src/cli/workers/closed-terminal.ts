import { closeSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'

/**
 * Returns a function that tells if the terminal, from which this process was started, has been closed. A closed terminal
 * sends SIGHUP, as an operator does for a reload. Always false for a process without a terminal as its standard input,
 * such as a service or one under `nohup`.
 */
export function watchTerminal(): () => boolean {
  if (!isatty(0)) return () => false
  return () => !hasTerminal()
}

/** Opening `/dev/tty` fails when the process has no controlling terminal (tty(4)). */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
