/** The input schemas in zod, for the servers whose users take zod. */
import { z } from 'zod'
import { CURRENCIES, ZIP } from './data.js'

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

/** Issues of zod as the answer lists them. */
export function issuesOf(location, error) {
  return error.issues.map(({ path, message }) => ({ location, path: pathText(path), message }))
}

function pathText(path) {
  return path.reduce((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? String(part) : `${text}.${String(part)}`
  }, '')
}
