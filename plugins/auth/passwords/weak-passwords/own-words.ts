import { foldPassword } from './fold-password.ts'

/** Shorter words occur in good passwords by chance. */
const SHORTEST_WORD = 4

/** The person who chooses a password, as far as a password rule may know. `id` is absent at signup. */
export interface PasswordUser {
  readonly id?: string
  readonly name: string
  readonly email: string
}

/** The words of a name and an address: each part of the name, the local part and the domain, and their parts. */
export function wordsOfUser({ name, email }: Pick<PasswordUser, 'name' | 'email'>): string[] {
  const [local = '', domain = ''] = email.split('@')
  return distinctWords([email, local, ...partsOf(local), ...wordsOfHost(domain), name, ...partsOf(name)])
}

/** The words of a host name: the whole name and its labels, without the last one (`com`). */
export function wordsOfHost(host: string): string[] {
  return distinctWords([
    host,
    ...host
      .split('.')
      .slice(0, -1)
      .flatMap((label) => [label, ...partsOf(label)]),
  ])
}

/** Words in the form of `foldPassword`, without blanks, longest first; short ones are left out. */
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
