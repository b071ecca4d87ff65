import { gzipSync } from 'node:zlib'
import type { Random } from '../schema/support/random.ts'

const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  'then',
  'toJSON',
  'length',
  'name',
  'qty',
  'id',
  'q',
  'n',
  'tag',
  'a',
  '',
  ' ',
  'a[b]',
  'a[__proto__]',
  'a.b',
  '[]',
  '0',
  '-1',
  '\u0000',
  'é',
  '😀',
]
const TEXTS = [
  ...NAMES,
  'null',
  'undefined',
  'NaN',
  '1e999',
  '0x10',
  '-0',
  '9007199254740993',
  '1.5',
  ' 1',
  'true',
  'yes',
  '[object Object]',
  '<script>',
  "' or 1=1--",
  '../../etc/passwd',
  '..\\..\\x',
  '%00',
  '%2e%2e%2f',
  '%252e',
  '${7*7}',
  '{{7*7}}',
  'x'.repeat(3000),
  '\ud800',
  '2024-02-30',
  '1970-01-01T00:00:00Z',
  '\r\nSet-Cookie: a=b',
  '\u2028',
  '\ufeff',
]
const ESCAPES = [
  '%',
  '%zz',
  '%c0%af',
  '%ed%a0%80',
  '%00',
  '%2f',
  '%2e%2e',
  '%252e%252e',
  '%5c',
  '%ff',
  '%F0%9F%98%80',
  '%u0041',
  '+',
  '%0d%0a',
]
const NUMBERS = [0, -0, 1, -1, 1.5, 1e308, -1e-308, 2 ** 53, 1e21]

/** A name or text that has broken something somewhere. */
export const nastyText = (random: Random): string => random.pick(TEXTS)

/** A random selection from the list, at most so many, with repetitions. */
export const some = <T>(random: Random, list: readonly T[], most: number): T[] =>
  Array.from({ length: random.below(most + 1) }, () => random.pick(list))

/** A piece of a URL: hostile text, escaped well, badly or not at all. */
export function nastyUrlPart(random: Random): string {
  if (random.chance(1 / 3)) return random.pick(ESCAPES)
  // Through bytes, as half of a surrogate pair has no escape.
  const text = Buffer.from(random.pick(TEXTS).slice(0, 200)).toString()
  return encodeURIComponent(text)
}

/** A JSON value of any shape, with hostile names. */
export function nastyJson(random: Random, depth = 0): unknown {
  const kind = random.below(depth > 4 ? 5 : 8)
  if (kind < 3) return nastyText(random)
  if (kind === 3) return random.pick(NUMBERS)
  if (kind === 4) return random.pick([null, true, false])
  const children = Array.from({ length: random.below(5) }, () => nastyJson(random, depth + 1))
  if (kind === 5) return children
  return Object.fromEntries(children.map((child) => [random.pick(NAMES), child]))
}

/** JSON as text, now and then no longer quite JSON. */
export function nastyJsonText(random: Random): string | Buffer {
  // JSON.stringify leaves an own `__proto__` in place, which Object.fromEntries made.
  const text = JSON.stringify(nastyJson(random)) ?? ''
  const spoilt: readonly (() => string | Buffer)[] = [
    () => text,
    () => text,
    () => JSON.stringify({ name: 'x', qty: 1, ...(nastyJson(random) as object) }),
    () => text.slice(0, random.below(text.length + 1)),
    () => `${text}${text}`,
    () => '['.repeat(random.pick([10, 2000, 100_000])),
    () => `{"a":${'['.repeat(1200)}${']'.repeat(1200)}}`,
    () => Buffer.from([0xef, 0xbb, 0xbf, ...Buffer.from(text)]),
    () => Buffer.from([0x22, 0xc0, 0xaf, 0xff, 0x22]),
    () => Buffer.from(text, 'utf16le'),
    () => gzipSync(text),
    () => '{"\\u005f_proto__":{"a":1}}',
  ]
  return random.pick(spoilt)()
}

const PART_HEADERS = [
  '; name="a"',
  '; name="__proto__"',
  '; name="constructor"; filename="c"',
  '; name="f"; filename="../../x"',
  '; filename="only"',
  '',
  '; name=',
  '; name="a',
  '; name="f"; filename=""',
  "; name*=utf-8''%zz",
  '; name="a"\r\nContent-Transfer-Encoding: base64',
  '; name="a"\r\nContent-Transfer-Encoding: nope',
  '; name="a"\r\nContent-Type: text/plain; charset=utf-16',
  `; name="${'x'.repeat(5000)}"`,
]

/** A multipart body with the boundary `B`, whole or broken. */
export function nastyMultipart(random: Random): string {
  const parts = some(random, PART_HEADERS, 5).map(
    (head) => `--B\r\nContent-Disposition: form-data${head}\r\n\r\n${nastyText(random)}\r\n`,
  )
  const whole = `${parts.join('')}${random.pick(['--B--\r\n', '--B--\r\n', '--B', '', '--C--\r\n'])}`
  return random.chance(1 / 5) ? whole.slice(0, random.below(whole.length + 1)) : whole
}

/** A form body. */
export function nastyForm(random: Random): string {
  return Array.from(
    { length: random.below(6) },
    () => `${nastyUrlPart(random)}=${nastyUrlPart(random)}`,
  ).join('&')
}
