/** What a `TextTable` holds. */
export interface Keyed {
  readonly text: string
  /** As `textHash` has it. */
  readonly hash: number
}

/** The hash of a text with one more character, by its code. An empty text has 0. */
export function nextHash(hash: number, code: number): number {
  return (Math.imul(hash, 31) + code) | 0
}

/** The hash of a text. */
export function textHash(text: string): number {
  let hash = 0
  for (let index = 0; index < text.length; index++) hash = nextHash(hash, text.charCodeAt(index))
  return hash
}

/**
 * Entries by text, found by a piece of a longer text and the hash of that piece, which the reader of the text computes
 * on its way: nothing is cut out and nothing read twice, as a Map would need. Only those who declare routes add entries,
 * so no request can make them collide.
 */
export class TextTable<E extends Keyed> {
  #slots: (E | undefined)[] = [undefined, undefined]
  #size = 0

  /** The entry whose text stands in `source` from `start` to `stop`. */
  find(source: string, start: number, stop: number, hash: number): E | undefined {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let index = firstSlot(hash, mask); ; index = (index + 1) & mask) {
      const entry = slots[index]
      if (entry === undefined) return undefined
      if (entry.hash === hash && entry.text.length === stop - start && isAt(source, start, entry.text))
        return entry
    }
  }

  /** Adds an entry whose text is not there yet. */
  add(entry: E): void {
    this.#size++
    // At most half full: a search ends at the first free slot.
    if (this.#size * 2 > this.#slots.length) this.#grow()
    this.#put(entry)
  }

  #grow(): void {
    const old = this.#slots
    this.#slots = Array.from({ length: old.length * 2 }, () => undefined)
    for (const entry of old) if (entry) this.#put(entry)
  }

  #put(entry: E): void {
    const mask = this.#slots.length - 1
    let index = firstSlot(entry.hash, mask)
    while (this.#slots[index] !== undefined) index = (index + 1) & mask
    this.#slots[index] = entry
  }
}

function firstSlot(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15)) & mask
}

function isAt(source: string, start: number, text: string): boolean {
  for (let index = 0; index < text.length; index++)
    if (source.charCodeAt(start + index) !== text.charCodeAt(index)) return false
  return true
}
