/** Bounds of the length of a string, in code units. */
export interface Lengths {
  readonly least: number
  readonly most: number
}

/**
 * Returns a string that matches a regular expression, or undefined if none is found. Reads classes, groups, alternatives
 * and quantifiers; the expression itself has the last word, so what this misreads gives no example.
 */
export function matchPattern(pattern: string, lengths: Lengths): string | undefined {
  try {
    const whole = new RegExp(pattern, 'u')
    return [1, 0, 2, lengths.least]
      .map((times) => write(pattern, Math.min(times, 200)))
      .find((text) => text !== undefined && isWithin(text, lengths) && whole.test(text))
  } catch {
    return undefined
  }
}

function isWithin({ length }: string, { least, most }: Lengths): boolean {
  return length >= least && length <= most
}

/** Writes each `*`, `+` and `{n,}` as often as `times` says, within its bounds. */
function write(pattern: string, times: number): string | undefined {
  let rest = pattern
  const result = alternatives()
  return rest === '' ? result : undefined

  function alternatives(): string {
    const first = sequence()
    while (rest.startsWith('|')) {
      rest = rest.slice(1)
      sequence()
    }
    return first
  }

  function sequence(): string {
    let text = ''
    while (rest !== '' && !/^[|)]/.test(rest)) text += quantified(atom())
    return text
  }

  function quantified(text: string): string {
    const [whole = '', sign, least, comma, most] = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(rest) ?? []
    rest = rest.slice(whole.length)
    if (whole === '') return text
    const from = sign === '+' ? 1 : Number(least ?? 0)
    const to = sign === '?' ? 1 : sign ? Infinity : comma ? Number(most || Infinity) : from
    return text.repeat(Math.min(Math.max(from, times), to, 1000))
  }

  function atom(): string {
    const group = /^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/.exec(rest)?.[0]
    if (group !== undefined) {
      rest = rest.slice(group.length)
      const text = alternatives()
      rest = rest.slice(1)
      return /[=!]$/.test(group) ? '' : text
    }
    const [token = ''] = /^(?:\[(?:\\.|[^\]\\])*\]|\\u\{[^}]*\}|\\[pP]\{[^}]*\}|\\.|.)/su.exec(rest) ?? []
    rest = rest.slice(Math.max(token.length, 1))
    return /^(?:\^|\$|\\[bB])$/.test(token) ? '' : characterOf(token)
  }
}

const CANDIDATES = [
  ...'a1A-_ .,@/:+#é',
  ...Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index)),
]

function characterOf(token: string): string {
  const single = new RegExp(`^${token}$`, 'u')
  return CANDIDATES.find((character) => single.test(character)) ?? token.replace(/^\\/, '')
}
