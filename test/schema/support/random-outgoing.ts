import * as yup from 'yup'
import type { YupNode } from '../../../src/compat/yup.ts'
import type { Random } from './random.ts'
import { MEMBER_NAMES, randomSchema } from './random-schema.ts'
import { valueFor } from './random-value.ts'

type Members = Record<string, unknown>

const ODD_NAMES = [
  'quo"te',
  'back\\slash',
  'new\nline',
  '\u2028',
  '\ud800',
  '${a}`',
  '',
  '7',
  'constructor',
  'toString',
]
const TEXTS = [
  '"', '\\', 'a"b', '\u0000', '\u001f', '\u007f', '\u2028', '\ud800', 'x\udfff', '\ud83d\ude00', '\ude00\ud83d',
  'l'.repeat(41), `${'l'.repeat(50)}"`, `${'l'.repeat(50)}\udc00`, `${'l'.repeat(6_000)}\n`, '</script>', 'é',
] // prettier-ignore
const SPECIAL: readonly (() => unknown)[] = [
  () => -0, () => Number.NaN, () => -Infinity, () => 1e-7, () => 1e300, () => 5n, () => Symbol('s'), () => () => 1,
  () => null, () => undefined, () => new Date(1.6e12), () => new Date(Number.NaN), () => new Object('a'),
  () => new Object(2), () => ({ toJSON: () => 'abc' }), () => ({ toJSON: () => undefined }), () => [undefined, null],
  () => Object.assign(['a'], { toJSON: () => ['b', { secret: 1 }] }),
] // prettier-ignore

const SIMPLE: readonly ((random: Random, depth: number) => yup.ISchema<unknown>)[] = [
  () => yup.string(),
  () => yup.string().min(1).max(60).nullable(),
  () => yup.number().nullable(),
  () => yup.number().integer().max(100).default(4),
  () => yup.boolean(),
  () => yup.date().nullable(),
  () => yup.mixed(),
  () => yup.mixed().required(),
  () => yup.string().required(),
  () => yup.boolean().defined().nullable(),
  () => yup.number().default(2).required(),
  (random, depth) => yup.array(fieldOf(random, depth - 1)),
  (random, depth) => (depth > 0 ? outgoingSchema(random, depth - 1) : yup.boolean().nullable()),
]

function fieldOf(random: Random, depth: number): yup.ISchema<unknown> {
  return random.chance(0.1) || depth < 0
    ? randomSchema('mixed', random, 0)
    : random.pick(SIMPLE)(random, depth)
}

/** A random plain object schema, some of whose keys need care in source text and in JSON. */
export function outgoingSchema(random: Random, depth = 2): yup.Schema {
  const names = [
    ...ODD_NAMES.filter(() => random.chance(0.1)),
    ...MEMBER_NAMES.filter(() => random.chance(0.6)),
  ]
  const schema = yup.object(Object.fromEntries(names.map((name) => [name, fieldOf(random, depth)])))
  return random.chance(0.2) ? schema.nullable() : schema
}

/** A value that a handler could return: close to the schema, with strange strings, entities and toJSON. */
export function outgoingFor(schema: YupNode, random: Random): unknown {
  return disguise(valueFor(schema, random, true), random)
}

function disguise(value: unknown, random: Random): unknown {
  if (random.chance(0.03)) return random.pick(SPECIAL)()
  if (typeof value === 'string') return disguiseText(value, random)
  if (Array.isArray(value)) return disguiseList(value, random)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const entries = Object.entries(value).map(([key, member]) => [key, disguise(member, random)] as const)
  return random.pick(FORMS)(Object.fromEntries(entries))
}

function disguiseList(items: readonly unknown[], random: Random): unknown {
  const list = items.map((item) => disguise(item, random))
  return random.chance(0.05) ? Object.assign(list, { toJSON: () => list.slice(1) }) : list
}

function disguiseText(text: string, random: Random): unknown {
  if (random.chance(0.15)) return random.pick(TEXTS)
  return text.startsWith('20') && random.chance(0.5) ? new Date(text) : text
}

const FORMS: readonly ((members: Members) => unknown)[] = [
  (members) => members,
  (members) => members,
  (members) => members,
  (members) => Object.fromEntries(Object.entries(members).toReversed()),
  (members) => Object.create(members) as unknown,
  (members) => Object.assign(Object.create(null) as object, members),
  (members) => ({ ...members, secret: 's', toString: 'own' }),
  (members) => ({ toJSON: () => ({ ...members, secret: 's' }) }),
  entity,
]

/** A class instance whose members are getters of its class. */
function entity(members: Members): unknown {
  class Entity {
    secret = 's'
  }
  for (const [key, member] of Object.entries(members))
    if (key !== 'constructor') Object.defineProperty(Entity.prototype, key, { get: () => member })
  return new Entity()
}
