import { randomUUID } from 'node:crypto'
import { unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartupError } from '../../errors/startup-error.ts'

/**
 * Creates and removes a file in the folder for temporary files. By default that is the temp folder of the machine.
 * @throws StartupError `MORTAR_UPLOAD_FOLDER` if the folder does not exist or is not writable.
 */
export async function checkUploadFolder(folder = tmpdir()): Promise<void> {
  const path = join(folder, `upload-${process.pid}-${randomUUID()}`)
  try {
    await writeFile(path, '', { flag: 'wx', mode: 0o600 })
    await unlink(path)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw new StartupError(
      `A route reads multipart forms, but no file can be written in ${folder}: ${code ?? message}.`,
      {
        code: 'MORTAR_UPLOAD_FOLDER',
        remedy: 'Make the folder writable, or name another one: TMPDIR, or the option multipart.folder.',
        cause,
      },
    )
  }
}
