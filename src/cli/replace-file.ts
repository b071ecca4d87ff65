import { existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../support/make-folder.ts'

/**
 * Writes a file and its folder in one step: processes read the old or the new content, and a full disk changes nothing.
 * A file that exists keeps its permissions, unless `mode` is given, and a link stays one. A text with line ends of Windows
 * gets them in all its lines, because a part that was added to it has others.
 */
export function replaceFile(path: string, text: string, mode?: number): void {
  const content = text.includes('\r\n') ? text.replaceAll(/\r?\n/g, '\r\n') : text
  makeFolder(dirname(path))
  const file = existsSync(path) ? realpathSync(path) : path
  const temporary = `${file}.${process.pid}`
  try {
    const kept = statSync(file, { throwIfNoEntry: false })?.mode
    writeFileSync(temporary, content, { mode: mode ?? kept ?? 0o666, flush: true })
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    // Node does not name the file of a failed write.
    throw Object.assign(error as Error, { path })
  }
}
