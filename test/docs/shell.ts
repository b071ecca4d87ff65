import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { outputOf } from './child-output.ts'

/** A bash that keeps its variables from one piece of script to the next, like a reader's terminal. */
export interface Shell {
  /** Runs a piece of script. @returns its output. @throws Error when its last command fails, or it leaves bash. */
  run(script: string): Promise<string>
  end(): Promise<void>
}

const END = '--- end of the block ---'

export function openShell(cwd: string): Shell {
  const bash = spawn('bash', ['--noprofile', '--norc'], { cwd })
  const output = outputOf(bash)

  return {
    async run(script) {
      output.clear()
      bash.stdin.write(`${script}\nprintf '\\n%s %s\\n' '${END}' $?\n`)
      await output.until(new RegExp(`${END} \\d+`))
      const [printed = '', status = ''] = output.text().split(END)
      if (status.trim() !== '0') throw new Error(`This failed:\n${script}\nIt printed:\n${printed}`)
      return printed
    },
    async end() {
      if (bash.exitCode !== null) return
      bash.stdin.end()
      await once(bash, 'close')
    },
  }
}
