import { execFileSync } from 'node:child_process'
import { chownSync } from 'node:fs'

/** Database servers refuse to run as root, so root runs their programs as the user of their package. */
export function asUser(user: string, command: readonly string[]): readonly string[] {
  return process.getuid?.() === 0 ? ['runuser', '-u', user, '--', ...command] : command
}

/** Gives a folder to that user, if this process is root. */
export function giveTo(user: string, directory: string): void {
  if (process.getuid?.() !== 0) return
  const id = (flag: string): number => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))
  chownSync(directory, id('-u'), id('-g'))
}
