/* The schemas of Fastify's routes, for ajv and fast-json-stringify. */
import { CURRENCIES, ZIP } from './data.js'
import { BLOCK_TYPES, LANGUAGES } from './documents.js'
import { SORTS } from './searches.js'

const text = (maxLength, minLength = 1) => ({ type: 'string', minLength, maxLength })
export const objectOf = (properties, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})
const whole = (minimum, maximum) => ({
  type: 'integer',
  minimum,
  ...(maximum === undefined ? {} : { maximum }),
})

export const userSchema = {
  params: objectOf({ id: whole(1) }),
  querystring: objectOf({ page: whole(1), limit: whole(1, 100), q: text(50) }),
  response: {
    200: objectOf({
      id: { type: 'integer' },
      name: { type: 'string' },
      email: { type: 'string' },
      page: { type: 'integer' },
      limit: { type: 'integer' },
      q: { type: 'string' },
    }),
  },
}
export const orderSchema = {
  body: objectOf(
    {
      reference: text(40),
      customer: objectOf({ name: text(100), email: { type: 'string', format: 'email' } }),
      address: objectOf({ street: text(100), city: text(100), zip: { type: 'string', pattern: ZIP.source } }),
      currency: { type: 'string', enum: CURRENCIES },
      express: { type: 'boolean' },
      items: {
        type: 'array',
        minItems: 1,
        maxItems: 20,
        items: objectOf({ sku: text(20), quantity: whole(1, 99) }),
      },
      note: text(500, 0),
    },
    ['reference', 'customer', 'address', 'currency', 'express', 'items'],
  ),
  response: {
    201: objectOf({
      reference: { type: 'string' },
      customer: { type: 'string' },
      email: { type: 'string' },
      currency: { type: 'string' },
      express: { type: 'boolean' },
      quantity: { type: 'integer' },
    }),
  },
}
const string = { type: 'string' }
const number = { type: 'number' }
const integer = { type: 'integer' }
export const productsSchema = {
  querystring: objectOf({ offset: whole(0) }),
  response: {
    200: objectOf({
      products: {
        type: 'array',
        items: objectOf({
          id: string,
          name: string,
          description: string,
          category: string,
          price: number,
          quantity: integer,
          active: { type: 'boolean' },
          created_at: string,
        }),
      },
      total: integer,
    }),
  },
}
export const documentSchema = {
  body: objectOf({
    title: text(200),
    language: { type: 'string', enum: LANGUAGES },
    revision: whole(1),
    tags: { type: 'array', maxItems: 20, items: text(40) },
    blocks: {
      type: 'array',
      minItems: 1,
      maxItems: 500,
      items: objectOf(
        {
          id: text(40),
          type: { type: 'string', enum: BLOCK_TYPES },
          text: text(2000, 0),
          level: whole(1, 6),
        },
        ['id', 'type', 'text'],
      ),
    },
  }),
  response: {
    201: objectOf({ title: string, revision: integer, blocks: integer, characters: integer }),
  },
}
const fromZero = { type: 'number', minimum: 0 }
export const searchSchema = {
  params: objectOf({ place: text(60), trade: text(60) }),
  querystring: objectOf({
    q: text(80),
    page: whole(1),
    limit: whole(1, 100),
    sort: { type: 'string', enum: SORTS },
    open: { type: 'boolean' },
    min: fromZero,
    max: fromZero,
    brand: text(100),
    from: text(100),
    near: text(100),
    ref: text(100),
  }),
  response: {
    200: objectOf({
      place: string,
      trade: string,
      q: string,
      page: integer,
      limit: integer,
      sort: string,
      open: { type: 'boolean' },
      min: number,
      max: number,
      brand: string,
      from: string,
      near: string,
      ref: string,
      found: integer,
    }),
  },
}
