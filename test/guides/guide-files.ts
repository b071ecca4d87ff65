import type { Block } from '../docs/read-blocks.ts'
import type { Files } from './new-application.ts'

const NAMED = /^\/\/ ([\w./[\]-]+\.ts)(?::.*)?\n/

/** Returns the path of the file that a block shows: the comment in its first line. */
export function pathOf({ language, code }: Block): string | undefined {
  return language === 'ts' ? NAMED.exec(code)?.[1] : undefined
}

/**
 * Returns the files of an application after a reader has followed a guide: a block of TypeScript that begins with its
 * path is that file, a block `diff` changes the file that it names, and a block `ini` that begins with `# .env` is
 * appended to that file.
 */
export function followGuide(application: Files, blocks: readonly Block[]): Files {
  const files: Record<string, string> = { ...application }
  for (const block of blocks) {
    const path = pathOf(block)
    if (path !== undefined) files[path] = block.code
    else if (block.language === 'diff') applyDiff(files, block)
    else if (block.language === 'ini' && block.code.startsWith('# .env\n'))
      files['.env'] = `${files['.env'] ?? ''}\n${block.code}`
  }
  return files
}

/** Each part behind a line `@@` is found once in the file by its kept and removed lines, and replaced. */
function applyDiff(files: Record<string, string>, { code, file, line }: Block): void {
  const [, path = '', parts = ''] = /^--- (\S+)\n@@\n(.*)$/s.exec(code) ?? []
  let content = files[path]
  if (content === undefined)
    throw new Error(`${file}:${line} changes '${path}', which the application does not have.`)
  for (const part of parts.split(/^@@\n/m)) {
    const lines = part.trimEnd().split('\n')
    const side = (other: string): string =>
      lines
        .filter((text) => !text.startsWith(other))
        .map((text) => `${text.slice(1)}\n`)
        .join('')
    const [before, after] = [side('+'), side('-')]
    const found = content.split(before).length - 1
    if (found !== 1) throw new Error(`${file}:${line} finds this ${found} times in ${path}:\n${before}`)
    content = content.replace(before, () => after)
  }
  files[path] = content
}
