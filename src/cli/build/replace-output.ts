import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'

/** Returns the folders that a build makes beside its output, and removes at its end. */
export function besideOutput(out: string): { readonly fresh: string; readonly previous: string } {
  return { fresh: `${out}.new`, previous: `${out}.old` }
}

/**
 * Makes a new folder the output. The folders only change their names: while the files of the previous output were deleted,
 * a start would find a part of them, and so would every start after a build that was stopped or failed then.
 */
export async function replaceOutput(fresh: string, out: string): Promise<void> {
  const { previous } = besideOutput(out)
  await rm(previous, { recursive: true, force: true })
  if (existsSync(out)) await rename(out, previous)
  await rename(fresh, out)
  await rm(previous, { recursive: true, force: true })
}
