import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress } from 'node:zlib'

/** The script of the API reference: a file of the package, compressed with Brotli. It is never in memory as a whole. */
export interface ReferenceScript {
  /** Changes with the content, so that a browser keeps the script until then. */
  readonly version: string
  /** Opens the script: the compressed bytes, or the script itself for a client without Brotli. */
  open(isCompressed: boolean): Readable
}

/** Finds the script that the build put into the package. Returns undefined if a copy of the package lacks it. */
export async function findReferenceScript(): Promise<ReferenceScript | undefined> {
  try {
    const file = createRequire(import.meta.url).resolve('#scalar')
    const hash = createHash('sha256').update(await readFile(file))
    return {
      version: hash.digest('base64url').slice(0, 16),
      open: (isCompressed) => open(file, isCompressed),
    }
  } catch {
    return undefined
  }
}

function open(file: string, isCompressed: boolean): Readable {
  const source = createReadStream(file)
  // The reader of the result sees an error of either stream.
  return isCompressed ? source : pipeline(source, createBrotliDecompress(), () => undefined)
}
