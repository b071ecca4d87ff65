import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from './database-fault.ts'

/**
 * Creates a folder and its parents. With the option `recursive`, Node never returns for a folder in /proc, and reports a
 * read-only file system as ENOENT.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder), mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another process was faster.
    if (errorCode(error) !== 'EEXIST') throw error
  }
}
