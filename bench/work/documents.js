/* Workload i: documents of 64 KiB, as an editor saves them. */

export const LANGUAGES = ['en', 'de', 'fr']
export const BLOCK_TYPES = ['paragraph', 'heading', 'quote']
const BLOCKS = 118

/** The number of different endings of a document: ASCII, UTF-8, and every eighth with `\u` escapes, as some clients send. */
export const TAILS = 32

const PLAIN =
  'The quick brown fox jumps over the lazy dog while the committee discusses the minutes of its very last meeting. '
const ACCENTED =
  'Über den Dokumenten sitzt der Ausschuss im Café und liest die Protokolle der letzten Sitzungen – bis zum Ende. '

/** @param {number} tail */
export function blocksOf(tail) {
  const sentence = tail % 2 === 0 ? PLAIN : ACCENTED
  return Array.from({ length: BLOCKS }, (_, index) => {
    const type = BLOCK_TYPES[index % BLOCK_TYPES.length]
    const text = sentence.repeat(4) + sentence.slice(0, (tail * 7 + index * 13) % 90)
    const block = { id: `block-${tail}-${index}`, type, text }
    return type === 'heading' ? { ...block, level: (index % 6) + 1 } : block
  })
}

/**
 * The beginning of a document, different for each index; `tailOf` the same index continues it.
 * @param {number} index
 */
export function documentHead(index) {
  const head = {
    title: `Minutes no. ${index} of the committee for café culture`,
    language: LANGUAGES[index % LANGUAGES.length],
    revision: index + 1,
    tags: ['minutes', `year-${1900 + (index % 127)}`],
  }
  return `${JSON.stringify(head).slice(0, -1)},"blocks":`
}

/** @param {number} index */
export function tailOf(index) {
  const tail = `${JSON.stringify(blocksOf(index % TAILS))}}`
  if (index % 8 !== 7) return tail
  return tail.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * The response of `POST /documents`, 201.
 * @param {{ title: string, revision: number, blocks: { text: string }[] }} document
 */
export function saveDocument({ title, revision, blocks }) {
  let characters = 0
  for (const { text } of blocks) characters += text.length
  return { title, revision, blocks: blocks.length, characters }
}
