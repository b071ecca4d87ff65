import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'

/**
 * Makes a new folder the output. The folders only change their names: while the files of the previous output were deleted,
 * a start would find a part of them, and so would every start after a build that was stopped or failed then. Meanwhile the
 * previous output has a name that no folder of a user has.
 */
export async function replaceOutput(fresh: string, out: string): Promise<void> {
  const previous = `${out}.replaced`
  await rm(previous, { recursive: true, force: true })
  if (existsSync(out)) await rename(out, previous)
  await rename(fresh, out)
  await rm(previous, { recursive: true, force: true })
}
