import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, listFiles } from '../architecture/tree.ts'

/** A fenced block of a document: its language, its text, the document's path and the line of its opening fence. */
export interface Block {
  readonly language: string
  readonly code: string
  readonly file: string
  readonly line: number
}

const FENCE = /^(?<fence>`{3,})(?<language>\w*)[^\n]*\n(?<code>.*?)^\k<fence>\s*?$/gms

/** The fenced blocks of a Markdown text, in their order. */
export function blocksOf(markdown: string, file: string): Block[] {
  return [...markdown.matchAll(FENCE)].map(({ index, groups }) => ({
    language: groups!['language']!,
    code: groups!['code']!,
    file,
    line: markdown.slice(0, index).split('\n').length,
  }))
}

/** The fenced blocks of a document of the repository. */
export function readBlocks(file: string): Block[] {
  return blocksOf(readFileSync(join(ROOT, file), 'utf8'), file)
}

/** The documents for users: the README, the pages of `docs`, of the bricks and of the examples. */
export function userDocuments(): string[] {
  const folders = ['docs', 'plugins', 'examples'].flatMap((folder) => listFiles(folder))
  return ['README.md', ...folders.filter((path) => path.endsWith('.md'))]
}
