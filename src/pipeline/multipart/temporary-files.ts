import { randomUUID } from 'node:crypto'
import { createWriteStream, type WriteStream } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'

/** Bytes that a file collects while the disk writes, so that they become one write. */
const COLLECTED = 128 * 1024

/** The temporary files of one request. After `remove`, no new file is created. */
export class TemporaryFiles {
  readonly #streams: WriteStream[] = []
  #isRemoved = false
  /** Undefined for the temp folder of the machine. */
  private readonly folder: string | undefined

  constructor(folder: string | undefined) {
    this.folder = folder
  }

  /** Returns the path of a new file. */
  newPath(): string {
    return join(this.folder ?? tmpdir(), `upload-${process.pid}-${randomUUID()}`)
  }

  /** Creates a file that only the user of this process can read; after `remove`, a stream that discards its bytes. */
  create(path: string): Writable {
    if (this.#isRemoved) return new Writable({ write: (_chunk, _encoding, done) => done() })
    const stream = createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: COLLECTED })
    this.#streams.push(stream)
    return stream
  }

  /** Waits until every file is written and closed. @throws the error of a write. */
  async whenWritten(): Promise<void> {
    await Promise.all(this.#streams.map((stream) => finished(stream)))
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
