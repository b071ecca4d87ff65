import { connect, type Socket } from 'node:net'

/** The bytes of a handshake, with these headers in addition. */
export function handshake(path: string, more: Readonly<Record<string, string>> = {}): string {
  const headers = {
    Host: 'localhost',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...more,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
}

/** A frame as a client sends it; the mask is zero, so the payload stays readable. */
export function frame(first: number, payload: string | Buffer = '', masked = true): Buffer {
  const body = Buffer.from(payload)
  const length =
    body.length < 126 ? Buffer.from([body.length]) : Buffer.from([126, body.length >> 8, body.length & 255])
  if (masked) length[0]! |= 0x80
  return Buffer.concat([Buffer.from([first]), length, Buffer.alloc(masked ? 4 : 0), body])
}

/** A connection to a local server that reads everything until it ends. */
export interface RawSocket {
  readonly socket: Socket
  /** The bytes that have arrived, as latin1. */
  text(): string
  /** Resolves when the text contains this, or matches it. */
  until(wanted: string): Promise<void>
  /** The code of the close frame of the server, when the connection has ended; undefined without one. */
  readonly ended: Promise<number | undefined>
}

export function openRaw(url: string, ...pieces: readonly (string | Buffer)[]): RawSocket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let text = ''
  const waiting = new Map<string, () => void>()
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    for (const [wanted, resolve] of waiting) if (text.includes(wanted)) resolve()
    // Only the last bytes can be a close frame; reading all frames for each chunk would take too long.
    if (text.lastIndexOf('\x88') > text.length - 130 && closeCode(text) !== undefined) socket.end()
  })
  socket.on('error', () => undefined)
  for (const piece of pieces) socket.write(piece)
  const ended = new Promise<number | undefined>((resolve) => {
    socket.on('close', () => resolve(closeCode(text)))
  })
  return {
    socket,
    ended,
    text: () => text,
    until: (wanted) =>
      new Promise((resolve) => {
        if (text.includes(wanted)) resolve()
        else waiting.set(wanted, resolve)
      }),
  }
}

/** Reads the frames of a server, which are not masked, up to a close frame. */
function closeCode(text: string): number | undefined {
  const bytes = Buffer.from(text, 'latin1')
  let at = bytes.indexOf('\r\n\r\n') + 4
  while (at + 1 < bytes.length) {
    const [first, length] = [bytes[at]!, bytes[at + 1]!]
    const start = at + (length === 126 ? 4 : length === 127 ? 10 : 2)
    if (first === 0x88) return bytes.readUInt16BE(start)
    at =
      start +
      (length < 126
        ? length
        : length === 126
          ? bytes.readUInt16BE(at + 2)
          : Number(bytes.readBigUInt64BE(at + 2)))
  }
  return undefined
}
