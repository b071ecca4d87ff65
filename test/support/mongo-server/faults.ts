import type { Document } from 'bson'

/**
 * A failure of one command: the connection ends before the command runs, or after it ran, or no reply ever comes, or
 * the reply is another one.
 */
export type Fault = 'lost command' | 'lost reply' | 'silence' | { readonly reply: Document }

/** The reply of a server on DocumentDB to all but one of the simultaneous writes of one unique value. */
export const DEADLOCK: Fault = {
  reply: { ok: 0, code: 16_908_292, codeName: 'Location16908292', errmsg: 'deadlock detected' },
}

interface Planned {
  readonly command: string
  readonly collection: string | undefined
  readonly fault: Fault
  /** Number of commands of this kind that pass before. */
  after: number
  times: number
}

/** The commands that a planned fault concerns. */
export interface Occasion {
  readonly collection?: string
  /** Number of commands of this kind that pass before; 0 by default. */
  readonly after?: number
  /** Number of commands that fail; 1 by default. */
  readonly times?: number
}

/** Failures of a stand-in, as real servers and networks have them. */
export class Faults {
  /** True while no bytes leave the server. What arrives meanwhile is never answered. */
  isSilent = false
  /** Words of errors about duplicates. Servers on DocumentDB use another code when an index is created. */
  wording: 'MongoDB' | 'DocumentDB' = 'MongoDB'
  /** Called with every command. */
  listener: ((command: Document) => void) | undefined
  private planned: Planned[] = []

  /** Number of planned failures that have not come yet. */
  get left(): number {
    return this.planned.reduce((sum, { times }) => sum + times, 0)
  }

  /** Lets the next commands with this name fail. */
  plan(command: string, fault: Fault, { collection, after = 0, times = 1 }: Occasion = {}): void {
    this.planned.push({ command, collection, fault, after, times })
  }

  /** Ends all failures. */
  clear(): void {
    this.planned = []
    this.isSilent = false
    this.wording = 'MongoDB'
    this.listener = undefined
  }

  /** @returns the fault of this command, if it has one. */
  take(command: Document): Fault | undefined {
    this.listener?.(command)
    if (this.isSilent) return 'silence'
    const [name, collection] = Object.entries(command)[0] ?? []
    const found = this.planned.find(
      (each) => each.command === name && (each.collection ?? collection) === collection && each.times > 0,
    )
    if (found === undefined) return undefined
    if (found.after > 0) {
      found.after -= 1
      return undefined
    }
    found.times -= 1
    return found.fault
  }

  /** Puts the reply about a duplicate into the words of the server that the stand-in imitates. */
  word(command: Document, reply: Document): Document {
    if (this.wording === 'MongoDB') return reply
    if (reply['code'] === 11_000 && 'createIndexes' in command)
      return { ok: 0, code: 1, codeName: 'InternalError', errmsg: exclusion(reply['keyValue'] as Document) }
    const errors = reply['writeErrors'] as Document[] | undefined
    return errors === undefined ? reply : { ...reply, writeErrors: errors.map(violation) }
  }
}

function exclusion(key: Document): string {
  return `could not create exclusion constraint: Key (value)=(${JSON.stringify(key)}) conflicts with the same key.`
}

function violation(error: Document): Document {
  if (error['code'] !== 11_000) return error
  const index = / index: (\S+)/.exec(String(error['errmsg']))?.[1]
  const { index: position } = error
  return {
    index: position as number,
    code: 11_000,
    errmsg: `Duplicate key violation on the requested collection: Index '${index}'`,
  }
}
