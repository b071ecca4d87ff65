import { randomUUID } from 'node:crypto'
import { createWriteStream, type WriteStream } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { finished } from 'node:stream/promises'
import { ServiceUnavailable } from '../../errors/http-error.ts'
import { clientLeft } from '../read-bytes.ts'

/** The temporary files of one request. */
export class TemporaryFiles {
  readonly #streams: WriteStream[] = []
  #isRemoved = false
  /** Undefined for the temp folder of the machine. */
  private readonly folder: string | undefined

  constructor(folder: string | undefined) {
    this.folder = folder
  }

  /**
   * Creates a file that only the user of this process can read. Its errors are those of `write` and `whenWritten`.
   * @throws BadRequest after `remove`.
   */
  create(): WriteStream {
    if (this.#isRemoved) throw clientLeft()
    const path = join(this.folder ?? tmpdir(), `upload-${process.pid}-${randomUUID()}`)
    const stream = createWriteStream(path, { flags: 'wx', mode: 0o600 })
    this.#streams.push(stream.on('error', () => undefined))
    return stream
  }

  /** Waits until every file is written and closed. @throws ServiceUnavailable `uploads_unavailable`. */
  async whenWritten(): Promise<void> {
    await Promise.all(this.#streams.map(whenFinished))
  }

  /** Deletes each file after it is closed, because a file that is being opened would appear again. Never rejects. */
  async remove(): Promise<void> {
    this.#isRemoved = true
    await Promise.allSettled(this.#streams.splice(0).map(removeOne))
  }
}

/** Returns the response of a full or failing disk. The log has the folder; the client does not see it. */
export function notWritten(stream: WriteStream, cause: Error): ServiceUnavailable {
  const message = `An upload cannot be written in ${dirname(String(stream.path))}: ${cause.message}`
  return new ServiceUnavailable('Files cannot be stored at the moment. Try again later.', {
    code: 'uploads_unavailable',
    cause: new Error(message, { cause }),
  })
}

async function whenFinished(stream: WriteStream): Promise<void> {
  try {
    await finished(stream)
  } catch (error) {
    throw notWritten(stream, error as Error)
  }
}

async function removeOne(stream: WriteStream): Promise<void> {
  if (!stream.closed)
    await new Promise<void>((resolve) => {
      stream.once('close', resolve).destroy()
    })
  await unlink(stream.path)
}
