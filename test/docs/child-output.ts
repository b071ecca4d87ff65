import type { ChildProcess } from 'node:child_process'

/** Milliseconds to wait for an output, so that a test without it fails with what was printed instead. */
const DEADLINE = 120_000

/** The output of a child process on both streams. */
export interface ChildOutput {
  text(): string
  /** Discards the output so far. */
  clear(): void
  /** Waits until the output matches. @throws Error when the process ends or time passes without it. */
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
      const late = AbortSignal.timeout(DEADLINE)
      late.addEventListener('abort', () => wake())
      while (!pattern.test(text)) {
        const end = child.exitCode ?? child.signalCode
        if (end !== null) throw new Error(`The process ended with ${end} and printed:\n${text}`)
        if (late.aborted) throw new Error(`The process has not printed ${pattern}, but:\n${text}`)
        await changed()
      }
    },
  }
}
