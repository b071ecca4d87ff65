import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../architecture/tree.ts'
import { skipSuite } from '../support/servers.ts'

/** Folder of the deployment files of the reference application. */
export const DEPLOY = join(ROOT, 'examples/notes/deploy')

export function readDeployFile(name: string): string {
  return readFileSync(join(DEPLOY, name), 'utf8')
}

/** Skips the suite whose body is being read if a program is not installed. */
export function needsProgram(program: string): void {
  if (spawnSync('which', [program]).status !== 0) skipSuite(`${program} is not installed`)
}
