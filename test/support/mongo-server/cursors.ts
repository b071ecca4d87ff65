import { Long, type Document } from 'bson'
import { CommandError } from './command-error.ts'

interface OpenCursor {
  readonly namespace: string
  rest: Document[]
}

const FIRST_BATCH = 101

/** The results that clients have not fetched yet. */
export class Cursors {
  private readonly open = new Map<string, OpenCursor>()
  private last = 0

  /** @returns the response with the first batch of these documents. */
  start(namespace: string, documents: Document[], batchSize = FIRST_BATCH, single = false): Document {
    const firstBatch = documents.slice(0, batchSize)
    const rest = single ? [] : documents.slice(batchSize)
    return { cursor: { firstBatch, id: this.keep(namespace, rest), ns: namespace }, ok: 1 }
  }

  /** @returns the response with the next batch. @throws CommandError 43 for a cursor that is not open. */
  next(id: unknown, batchSize = Infinity): Document {
    const key = String(id)
    const cursor = this.open.get(key)
    if (!cursor) throw new CommandError(43, `cursor id ${key} not found`)
    const nextBatch = cursor.rest.slice(0, batchSize)
    cursor.rest = cursor.rest.slice(batchSize)
    if (cursor.rest.length === 0) this.open.delete(key)
    return {
      cursor: { nextBatch, id: longOf(cursor.rest.length > 0 ? key : '0'), ns: cursor.namespace },
      ok: 1,
    }
  }

  kill(ids: readonly unknown[]): Document {
    const cursorsKilled = ids.filter((id) => this.open.delete(String(id)))
    return { cursorsKilled, cursorsNotFound: [], cursorsAlive: [], cursorsUnknown: [], ok: 1 }
  }

  private keep(namespace: string, rest: Document[]): Long {
    if (rest.length === 0) return Long.ZERO
    this.last += 1
    this.open.set(String(this.last), { namespace, rest })
    return Long.fromNumber(this.last)
  }
}

function longOf(id: string): Long {
  return Long.fromString(id)
}
