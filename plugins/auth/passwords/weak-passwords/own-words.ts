import { foldPassword } from './fold-password.ts'

/** Shorter words occur in good passwords by chance. */
const SHORTEST_WORD = 4

/** The user who chooses a password, with the fields that a password rule may read. `id` is absent at signup. */
export interface PasswordUser {
  readonly id?: string
  readonly name: string
  readonly email: string
}

/** Returns the words of a name and an address: parts of the name, the local part, the domain, and their parts. */
export function wordsOfUser({ name, email }: Pick<PasswordUser, 'name' | 'email'>): string[] {
  const [local = '', domain = ''] = email.split('@')
  return distinctWords([email, local, ...partsOf(local), ...wordsOfHost(domain), name, ...partsOf(name)])
}

/** Returns the words of a host name: the whole name and its labels, without the last one (`com`). */
export function wordsOfHost(host: string): string[] {
  return distinctWords([
    host,
    ...host
      .split('.')
      .slice(0, -1)
      .flatMap((label) => [label, ...partsOf(label)]),
  ])
}

/** Returns words in the form of `foldPassword`, without blanks, longest first, without short ones. */
export function distinctWords(texts: readonly string[]): string[] {
  const words = texts.map((text) => foldPassword(text).replaceAll(/\s/gu, ''))
  return [...new Set(words)]
    .filter((word) => [...word].length >= SHORTEST_WORD)
    .toSorted((one, other) => other.length - one.length)
}

/** True when more than half of the letters and digits of a password, in the form of `foldPassword`, are such words. */
export function isMostlyWords(folded: string, words: readonly string[]): boolean {
  const text = folded.replaceAll(/\s/gu, '')
  const rest = words.reduce((left, word) => left.replaceAll(word, '\n'), text)
  const remaining = [...rest.replaceAll('\n', '')].length
  return remaining * 2 < [...text].length
}

function partsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{M}\p{N}]+/u)
}
