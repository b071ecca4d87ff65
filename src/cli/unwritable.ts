import { StartupError } from '../errors/startup-error.ts'

const SPACE = 'Free space on the disk, then run the command again.'
const RIGHTS = 'Run the command as the owner of the folder, or change the permissions.'
const PLACE = 'Move away the file that is in the place of a folder, or name another folder.'

const REMEDIES: ReadonlyMap<string | undefined, string> = new Map([
  ['EROFS', 'The file system is read-only: mount it writable, or work on a copy in another place.'],
  ['EACCES', RIGHTS],
  ['EPERM', RIGHTS],
  ['ENOSPC', SPACE],
  ['EDQUOT', SPACE],
  ['ENOTDIR', PLACE],
  ['ENAMETOOLONG', 'Choose a shorter name.'],
  ['EISDIR', 'Move away the folder that is in the place of a file.'],
])

/** Returns the error for a place where a command cannot write; undefined for an error of another kind. */
export function unwritable(error: unknown): StartupError | undefined {
  const { code, syscall, path } = (error ?? {}) as NodeJS.ErrnoException
  const remedy = REMEDIES.get(code)
  if (remedy === undefined || syscall === undefined) return undefined
  // Node does not name the file of a failed write.
  const place = path ?? 'A file'
  return new StartupError(`${place} cannot be opened or written (${code}).`, {
    code: 'MORTAR_CLI_WRITE',
    remedy,
    files: path === undefined ? [] : [path],
    cause: error,
  })
}
