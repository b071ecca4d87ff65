/** The part of a process that sends to its parent process. */
export interface Sender<Message> {
  send?: ((message: Message, handle: undefined, options: undefined, sent: () => void) => unknown) | undefined
}

/** Sends a message to the parent process. Resolves when it is sent, or when that process is gone. */
export function sendToParent<Message>(sender: Sender<Message>, message: Message): Promise<void> {
  return new Promise((resolve) => {
    try {
      if (sender.send) sender.send(message, undefined, undefined, resolve)
      else resolve()
    } catch {
      resolve()
    }
  })
}
