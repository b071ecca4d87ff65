import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/**
 * Runs a program to its end without blocking this process, which forwards connections meanwhile.
 * @returns its standard output. @throws Error with its output on another exit code than 0.
 */
export async function runProgram(
  [program = '', ...args]: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const { stdout } = await execute(program, args, { cwd: '/', ...options })
  return stdout
}
