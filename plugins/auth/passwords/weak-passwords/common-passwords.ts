import { brotliDecompressSync } from 'node:zlib'
import { COMMON_PASSWORDS } from './common-passwords-data.ts'

let list: ReadonlySet<string> | undefined

/**
 * True for one of the common passwords, given in the form of `foldPassword` (ASVS 6.2.4). The list is unpacked at the
 * first call (~10 ms), so that a process that judges no password does not hold it.
 */
export function isCommonPassword(folded: string): boolean {
  list ??= unpack()
  return list.has(folded) || list.has(folded.trim())
}

function unpack(): ReadonlySet<string> {
  const lines = brotliDecompressSync(Buffer.from(COMMON_PASSWORDS, 'base64')).toString('utf8').split('\n')
  let before = ''
  return new Set(lines.map((line) => (before = before.slice(0, Number(line[0])) + line.slice(1))))
}
