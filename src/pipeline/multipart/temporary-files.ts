import { createWriteStream, type WriteStream } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { Writable } from 'node:stream'

/** The temporary files of one request. After `remove`, no new file is created. */
export class TemporaryFiles {
  readonly #streams: WriteStream[] = []
  #isRemoved = false
  /** Undefined for the temp folder of the machine. */
  readonly folder: string | undefined

  constructor(folder: string | undefined) {
    this.folder = folder
  }

  /** Creates a file that only the user of this process can read; after `remove`, a stream that discards its bytes. */
  create(path: string): Writable {
    if (this.#isRemoved) return new Writable({ write: (_chunk, _encoding, done) => done() })
    const stream = createWriteStream(path, { flags: 'wx', mode: 0o600 })
    this.#streams.push(stream)
    return stream
  }

  /**
   * Checks that every file is whole. formidable ignores an error of a write that comes when its form has ended, as it
   * does for a small file on a full disk.
   * @throws the error of the write.
   */
  check(): void {
    for (const { errored } of this.#streams) if (errored !== null && errored !== undefined) throw errored
  }

  /** Deletes each file after it is closed, because a file that is being opened would appear again. Never rejects. */
  async remove(): Promise<void> {
    this.#isRemoved = true
    await Promise.allSettled(this.#streams.splice(0).map(removeOne))
  }
}

async function removeOne(stream: WriteStream): Promise<void> {
  if (!stream.closed)
    await new Promise<void>((resolve) => {
      stream.on('error', () => undefined)
      stream.once('close', resolve).destroy()
    })
  await unlink(stream.path)
}
