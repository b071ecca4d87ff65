import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** The result of a raw exchange. */
export interface RawAnswer {
  /** Everything the server sent, byte by byte as latin1. */
  readonly text: string
  /** The status of the first final response, or 0 when none came. */
  readonly status: number
  /** `'end'` when the server closed, `'reset'` when it cut the connection, `'timeout'` when it kept silent. */
  readonly ending: 'end' | 'reset' | 'timeout'
}

/** Milliseconds. The time for a response is counted in steps, so that a pause of this process counts as one of them. */
const STEP = 100

/** Sends raw bytes to a local port, in these pieces, and reads the response until the server closes. */
export function rawRequest(
  port: number,
  pieces: string | Buffer | readonly (string | Buffer)[],
  timeout = 15_000,
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1')
    const finish = (ending: RawAnswer['ending']): void => {
      clearInterval(timer)
      socket.destroy()
      resolve({ text, status: statusOf(text), ending })
    }
    let steps = timeout / STEP
    const timer = setInterval(() => --steps <= 0 && finish('timeout'), STEP)
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket
      .on('end', () => finish('end'))
      .on('error', () => finish('reset'))
      .on('close', () => finish('reset'))
    void sendAll(socket, Array.isArray(pieces) ? pieces : [pieces as string | Buffer])
  })
}

async function sendAll(
  socket: ReturnType<typeof connect>,
  pieces: readonly (string | Buffer)[],
): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return
    socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)
    if (pieces.length > 1) await wait(1)
  }
}

function statusOf(text: string): number {
  const statuses = [...text.matchAll(/(?:^|\r\n\r\n)HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
  return statuses.find((status) => status >= 200) ?? 0
}
