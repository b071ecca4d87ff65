// Measures compiled yup schemas beside yup and ajv, and serialisation beside JSON.stringify, in one interleaved run.
// Run: npx tsx --conditions=source bench/validate.ts
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import * as yup from 'yup'
import { compileSerializer } from '../src/schema/serializer.ts'
import { compileValidator } from '../src/schema/compile-validator.ts'

const ROUNDS = 15
const BLOCK_NS = 20_000_000

const EMAIL = yup.string().email().describe().tests[0]!.params!.regex as RegExp

const body = yup.object({
  name: yup.string().required().min(2).max(50),
  email: yup.string().email().required(),
  age: yup.number().integer().min(0).max(150).required(),
  active: yup.boolean().required(),
  role: yup.string().oneOf(['admin', 'user']).required(),
  bio: yup.string().max(500),
  score: yup.number(),
  newsletter: yup.boolean(),
  tags: yup.array(yup.string().required().max(20)).max(10).required(),
  address: yup
    .object({
      street: yup.string().required(),
      city: yup.string().required(),
      country: yup.string().required().length(2),
      zip: yup.string().required().max(10),
    })
    .required(),
})
const bodySchema = {
  type: 'object',
  required: ['name', 'email', 'age', 'active', 'role', 'tags', 'address'],
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 50 },
    email: { type: 'string', minLength: 1, pattern: EMAIL.source },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    active: { type: 'boolean' },
    role: { type: 'string', enum: ['admin', 'user'] },
    bio: { type: 'string', maxLength: 500 },
    score: { type: 'number' },
    newsletter: { type: 'boolean' },
    tags: { type: 'array', maxItems: 10, items: { type: 'string', minLength: 1, maxLength: 20 } },
    address: {
      type: 'object',
      required: ['street', 'city', 'country', 'zip'],
      properties: {
        street: { type: 'string', minLength: 1 },
        city: { type: 'string', minLength: 1 },
        country: { type: 'string', minLength: 2, maxLength: 2 },
        zip: { type: 'string', minLength: 1, maxLength: 10 },
      },
    },
  },
}
const sent = JSON.stringify({
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  age: 36,
  active: true,
  role: 'admin',
  bio: 'Wrote the first program.',
  score: 9.5,
  newsletter: false,
  tags: ['math', 'engines', 'poetry'],
  address: { street: '12 St James Square', city: 'London', country: 'GB', zip: 'SW1Y' },
})
const query = yup.object({
  page: yup.number().integer().min(1).default(1),
  limit: yup.number().integer().min(1).max(100).default(20),
  q: yup.string().max(100),
})
const querySchema = {
  type: 'object',
  properties: {
    page: { type: 'integer', minimum: 1, default: 1 },
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    q: { type: 'string', maxLength: 100 },
  },
}
const row = yup.object({
  id: yup.number().integer().required(),
  name: yup.string().required(),
  email: yup.string().required(),
  active: yup.boolean().required(),
  role: yup.string().oneOf(['admin', 'user']).required(),
  at: yup.date().required(),
})

/** Other schemas of an application, used before anything is measured: V8 is quicker while it knows one shape alone. */
function useOtherSchemas(): void {
  for (let index = 0; index < 12; index++) {
    const [first, second, third] = ['a', 'b', 'c'].map((name) => name + index) as [string, string, string]
    const schema = yup.object({
      [first]: yup.string().required(),
      [second]: yup.number().min(0),
      [third]: yup.object({ [first]: yup.boolean() }),
    })
    const given = { [first]: 'text', [second]: index, [third]: { [first]: true } }
    const validators = [compileValidator(schema, 'body'), compileValidator(schema, 'query')]
    const serialize = compileSerializer(schema)
    for (let call = 0; call < 2_000; call++) {
      for (const { validate } of validators) validate(given)
      void serialize({ ...given, secret: call })
    }
  }
}

type Candidates = Readonly<Record<string, () => unknown>>

function nanoseconds(run: () => unknown): number {
  const started = process.hrtime.bigint()
  let calls = 0
  let spent = 0
  while (spent < BLOCK_NS) {
    for (let index = 0; index < 20; index++) run()
    calls += 20
    spent = Number(process.hrtime.bigint() - started)
  }
  return spent / calls
}

/** Rounds are interleaved, so that other load affects all candidates alike. */
function compare(title: string, candidates: Candidates): void {
  const times = new Map(Object.keys(candidates).map((name) => [name, [] as number[]]))
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, run] of Object.entries(candidates)) times.get(name)!.push(nanoseconds(run))
  const medians = [...times].map(
    ([name, all]) => [name, all.toSorted((a, b) => a - b)[ROUNDS >> 1]!] as const,
  )
  const first = medians[0]![1]
  process.stdout.write(`\n${title}\n`)
  for (const [name, median] of medians)
    process.stdout.write(
      `  ${name.padEnd(32)} ${median.toFixed(0).padStart(8)} ns ${(median / first).toFixed(2).padStart(8)} x\n`,
    )
}

useOtherSchemas()

const value = JSON.parse(sent) as Record<string, unknown>
const wrong = { ...value, name: 'A', age: 200, role: 'guest' }
const unknown = JSON.parse(`${sent.slice(0, -1)},"other":1}`) as unknown
const plain = new Ajv({ allErrors: true }).compile(bodySchema)
const compiled = compileValidator(body, 'body').validate
compare('ten-field nested body, valid', {
  compiled: () => compiled(value),
  ajv: () => plain(value),
  'yup validateSync': () => body.validateSync(value, { abortEarly: false }),
})
compare('the same, an unknown key', {
  compiled: () => compiled(unknown),
  ajv: () => plain(unknown),
})
const attempt = (): unknown => {
  try {
    return body.validateSync(wrong, { abortEarly: false })
  } catch (error) {
    return error
  }
}
compare('the same, three issues', {
  compiled: () => compiled(wrong),
  'ajv (codes, all errors)': () => plain(wrong),
  'yup validateSync': attempt,
})

const text = { page: '2', limit: '50', q: 'engines' }
const coercing = new Ajv({ allErrors: true, coerceTypes: true, useDefaults: true }).compile(querySchema)
const compiledQuery = compileValidator(query, 'query').validate
compare('three-field query', {
  compiled: () => compiledQuery(text),
  'ajv (copy, coerced in place)': () => coercing({ ...text }),
  'yup validateSync': () => query.validateSync(text, { abortEarly: false }),
})

const rowOf = (id: number) => ({
  id,
  name: `User ${id}`,
  email: `user${id}@example.com`,
  active: true,
  role: 'user',
  at: new Date(1.7e12 + id),
})
const fastJson = createRequire(import.meta.url)('fast-json-stringify') as (
  schema: object,
) => (value: unknown) => string
const anyText = { type: 'string' }
const rowJson = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: anyText,
    email: anyText,
    active: { type: 'boolean' },
    role: anyText,
    at: { type: 'string', format: 'date-time' },
  },
}
const fastOne = fastJson(rowJson)
const fastAll = fastJson({ type: 'array', items: rowJson })
/** Text is counted in bytes as well, because a server does that and a string in pieces is joined by it. */
const bytes = (json: unknown): number => Buffer.byteLength(json as string)
const writeOne = compileSerializer(row)
const writeAll = compileSerializer(yup.array(row).required())
for (const length of [1, 10, 100]) {
  const rows = Array.from({ length }, (_, id) => rowOf(id))
  const secret = rows.map((one) => ({ ...one, passwordHash: 'x'.repeat(60) }))
  compare(length === 1 ? 'one row' : `${length} rows`, {
    compiled: () => bytes(length === 1 ? writeOne(rows[0]) : writeAll(rows)),
    'compiled, an undeclared key': () => bytes(length === 1 ? writeOne(secret[0]) : writeAll(secret)),
    'fast-json-stringify': () => bytes(length === 1 ? fastOne(rows[0]) : fastAll(rows)),
    'JSON.stringify': () => bytes(JSON.stringify(length === 1 ? rows[0] : rows)),
  })
}
