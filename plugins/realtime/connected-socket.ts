import { type RawData, WebSocket } from 'ws'

/** Receives the events of a `ConnectedSocket`. */
export interface SocketEvents {
  onMessage(data: RawData, isBinary: boolean): void
  onPing(data: Buffer): void
  onPong(): void
  onClose(code: number): void
}

/** A WebSocket that calls one object. Listeners would cost each idle socket 300 bytes. After an error, the end follows. */
export class ConnectedSocket extends WebSocket {
  events: SocketEvents | undefined = undefined

  override emit(event: string, first?: unknown, second?: unknown): boolean {
    if (event === 'message') this.events!.onMessage(first as RawData, second as boolean)
    else if (event === 'ping') this.events!.onPing(first as Buffer)
    else if (event === 'pong') this.events!.onPong()
    else if (event === 'close') this.events!.onClose(first as number)
    return true
  }
}
