/** The input schemas in zod, for the servers whose users take zod. */
import { z } from 'zod'
import { CURRENCIES, ZIP } from './data.js'
import { BLOCK_TYPES, LANGUAGES } from './documents.js'
import { SORTS } from './searches.js'

const whole = z
  .string()
  .regex(/^-?\d+$/)
  .transform(Number)

export const params = z.object({ id: whole.pipe(z.number().int().min(1)) })
export const query = z.object({
  page: whole.pipe(z.number().int().min(1)),
  limit: whole.pipe(z.number().int().min(1).max(100)),
  q: z.string().min(1).max(50),
})
export const order = z.object({
  reference: z.string().min(1).max(40),
  customer: z.object({ name: z.string().min(1).max(100), email: z.email() }),
  address: z.object({
    street: z.string().min(1).max(100),
    city: z.string().min(1).max(100),
    zip: z.string().regex(ZIP),
  }),
  currency: z.enum(CURRENCIES),
  express: z.boolean(),
  items: z
    .array(z.object({ sku: z.string().min(1).max(20), quantity: z.number().int().min(1).max(99) }))
    .min(1)
    .max(20),
  note: z.string().max(500).optional(),
})

export const productQuery = z.object({ offset: whole.pipe(z.number().int().min(0)) })
export const document = z.object({
  title: z.string().min(1).max(200),
  language: z.enum(LANGUAGES),
  revision: z.number().int().min(1),
  tags: z.array(z.string().min(1).max(40)).max(20),
  blocks: z
    .array(
      z.object({
        id: z.string().min(1).max(40),
        type: z.enum(BLOCK_TYPES),
        text: z.string().max(2000),
        level: z.number().int().min(1).max(6).optional(),
      }),
    )
    .min(1)
    .max(500),
})
const fromZero = z.coerce.number().min(0)
const short = z.string().min(1).max(100)
export const searchParams = z.object({ place: z.string().min(1).max(60), trade: z.string().min(1).max(60) })
export const searchQuery = z.object({
  q: z.string().min(1).max(80),
  page: whole.pipe(z.number().int().min(1)),
  limit: whole.pipe(z.number().int().min(1).max(100)),
  sort: z.enum(SORTS),
  open: z.enum(['true', 'false']).transform((text) => text === 'true'),
  min: fromZero,
  max: fromZero,
  brand: short,
  from: short,
  near: short,
  ref: short,
})

/** Issues of zod as the response lists them. */
export function issuesOf(location, error) {
  return error.issues.map(({ path, message }) => ({ location, path: pathText(path), message }))
}

function pathText(path) {
  return path.reduce((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? String(part) : `${text}.${String(part)}`
  }, '')
}
