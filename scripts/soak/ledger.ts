import type { Findings } from './findings.ts'

/** Possible texts of a note: null means that it may be gone. More than one value after an unknown outcome. */
interface Entry {
  readonly marker: string
  possible: Set<string | null>
  deleted: boolean
}

/** A note as the application lists it. */
export interface ListedNote {
  readonly id: string
  readonly title: string
  readonly text: string
}

/**
 * All notes of one user as far as the user knows. The title is a marker that is sent once, and the text changes. An
 * unknown outcome adds a possibility, and an acknowledged one leaves only one.
 */
export class Ledger {
  readonly #byId = new Map<string, Entry>()
  /** Markers whose creation has an unknown outcome, with their text. */
  readonly #doubtful = new Map<string, string>()
  acknowledged = 0

  created(id: string, { marker, text }: { marker: string; text: string }): void {
    this.#byId.set(id, { marker, possible: new Set([text]), deleted: false })
    this.acknowledged++
  }

  perhapsCreated({ marker, text }: { marker: string; text: string }): void {
    this.#doubtful.set(marker, text)
  }

  changed(id: string, text: string): void {
    this.#byId.get(id)!.possible = new Set([text])
    this.acknowledged++
  }

  perhapsChanged(id: string, text: string): void {
    this.#byId.get(id)!.possible.add(text)
  }

  deleted(id: string): void {
    const entry = this.#byId.get(id)!
    entry.possible = new Set([null])
    entry.deleted = true
    this.acknowledged++
  }

  perhapsDeleted(id: string): void {
    this.#byId.get(id)!.possible.add(null)
  }

  /** Returns true if a response that the note does not exist is right. */
  mayBeGone(id: string): boolean {
    return this.#byId.get(id)!.possible.has(null)
  }

  /** Returns true if a note may have this text. */
  mayRead(id: string, text: string): boolean {
    return this.#byId.get(id)!.possible.has(text)
  }

  anyLiving(): string | undefined {
    const living = [...this.#byId].filter(([, { deleted }]) => !deleted)
    return living[Math.floor(Math.random() * living.length)]?.[0]
  }

  /** Compares the notes that the application has with those it acknowledged. */
  compare(listed: readonly ListedNote[], { who, findings }: { who: string; findings: Findings }): void {
    const seen = new Map(listed.map((note) => [note.id, note]))
    if (seen.size < listed.length) findings.add('a note listed twice', who)
    for (const [id, entry] of this.#byId) {
      const note = seen.get(id)
      if (!note && !entry.possible.has(null)) findings.add('an acknowledged note is lost', `${who} ${id}`)
      else if (note && entry.deleted) findings.add('a deleted note is back', `${who} ${id}`)
      else if (note && (!entry.possible.has(note.text) || note.title !== entry.marker))
        findings.add('a note has changed', `${who} ${id}: ${note.text}`)
    }
    this.#findDuplicates(listed, { who, findings })
  }

  #findDuplicates(
    listed: readonly ListedNote[],
    { who, findings }: { who: string; findings: Findings },
  ): void {
    const known = new Set([...this.#byId.values()].map(({ marker }) => marker))
    const seen = new Set<string>()
    for (const { title, text } of listed) {
      if (seen.has(title)) findings.add('a note exists twice', `${who} ${title}`)
      seen.add(title)
      if (known.has(title)) continue
      if (this.#doubtful.get(title) === text) findings.count('notes stored although the response was lost')
      else findings.add('a note that nobody wrote', `${who} ${title}`)
    }
  }
}
