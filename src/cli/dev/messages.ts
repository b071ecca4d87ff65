import { ignore } from '../../support/ignore.ts'
import { sendToParent } from '../../support/send-to-parent.ts'

/** Messages from the serving process to the watching process. */
export type FromServer =
  | {
      readonly type: 'ready'
      readonly url: string
      readonly milliseconds: number
      /** Pages to list by name: `docs`, `mail`. */
      readonly pages: Readonly<Record<string, string>>
    }
  /** Route files are broken; the others are served. */
  | { readonly type: 'broken'; readonly message: string }
  /** The start failed; the process ends after this message. */
  | { readonly type: 'failed'; readonly message: string }
  /** The process has the connection of this number. */
  | { readonly type: 'accepted'; readonly number: number }
  | AddressRequest

/** Asks for the connections of an address, which the watching process keeps open during restarts. */
export interface AddressRequest {
  readonly type: 'listen'
  /** The same in each process for the same call of `listen()`. */
  readonly id: string
  readonly port: number
  readonly host: string | undefined
  readonly isTls: boolean
}

/** Messages from the watching process to the serving process. */
export type ToServer =
  | { readonly type: 'start' | 'close' }
  | { readonly type: 'listening'; readonly id: string; readonly address: object }
  | { readonly type: 'refused'; readonly id: string; readonly code: string; readonly message: string }
  /** Comes with a socket. Each number occurs once. */
  | { readonly type: 'connection'; readonly id: string; readonly number: number }

/** Sends a message to the watching process. `sent` is called also if that process is gone. */
export function tell(message: FromServer, sent: () => void = ignore): void {
  void sendToParent(process, message).then(sent)
}
