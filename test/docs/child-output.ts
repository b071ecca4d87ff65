import type { ChildProcess } from 'node:child_process'

/** The output of a child process on both streams. */
export interface ChildOutput {
  text(): string
  /** Discards the output so far. */
  clear(): void
  /** Waits until the output matches. @throws Error when the process ends without it. */
  until(pattern: RegExp): Promise<void>
}

export function outputOf(child: ChildProcess): ChildOutput {
  let text = ''
  let wake = (): void => undefined
  const changed = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
    })
  for (const stream of [child.stdout, child.stderr])
    stream!.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      wake()
    })
  child.on('close', () => wake())

  return {
    text: () => text,
    clear: () => void (text = ''),
    async until(pattern) {
      while (!pattern.test(text)) {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(
            `The process ended with ${child.exitCode ?? child.signalCode} and printed:\n${text}`,
          )
        await changed()
      }
    },
  }
}
