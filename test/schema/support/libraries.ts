import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import type { RouteDefinition } from 'mortar'
import * as v from 'valibot'
import * as yup from 'yup'
import { z } from 'zod'

/** The schemas of one route in one library: an order with items, as docs/schemas.md shows it. */
export type LibraryRoute = Required<Pick<RouteDefinition, 'params' | 'query' | 'body' | 'response'>>

const COLOURS = ['red', 'green'] as const

/** The same route in each library. Keys that are not declared are dropped. */
export const LIBRARIES: Readonly<Record<string, LibraryRoute>> = {
  yup: {
    params: yup.object({ id: yup.string().uuid().required() }),
    query: yup.object({ page: yup.number().integer().min(1), tag: yup.array(yup.string().required()) }),
    body: yup
      .object({
        email: yup.string().email().required(),
        name: yup.string().min(2).max(5).required(),
        colour: yup.string().oneOf(COLOURS),
        items: yup
          .array(yup.object({ quantity: yup.number().min(1).required() }).noUnknown())
          .max(3)
          .required(),
      })
      .noUnknown(),
    response: { 200: yup.object({ total: yup.number().required(), note: yup.string() }) },
  },
  zod: {
    params: z.object({ id: z.uuid() }),
    query: z.object({ page: z.int().min(1).optional(), tag: z.array(z.string()).optional() }),
    body: z.object({
      email: z.email(),
      name: z.string().min(2).max(5),
      colour: z.enum(COLOURS).optional(),
      items: z.array(z.object({ quantity: z.number().min(1) })).max(3),
    }),
    response: { 200: z.object({ total: z.number(), note: z.string().optional() }) },
  },
  valibot: {
    params: toStandardJsonSchema(v.object({ id: v.pipe(v.string(), v.uuid()) })),
    query: toStandardJsonSchema(
      v.object({
        page: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
        tag: v.optional(v.array(v.string())),
      }),
    ),
    body: toStandardJsonSchema(
      v.object({
        email: v.pipe(v.string(), v.email()),
        name: v.pipe(v.string(), v.minLength(2), v.maxLength(5)),
        colour: v.optional(v.picklist(COLOURS)),
        items: v.pipe(v.array(v.object({ quantity: v.pipe(v.number(), v.minValue(1)) })), v.maxLength(3)),
      }),
    ),
    response: { 200: toStandardJsonSchema(v.object({ total: v.number(), note: v.optional(v.string()) })) },
  },
  arktype: {
    params: type({ id: 'string.uuid' }),
    query: type({ 'page?': 'number.integer >= 1', 'tag?': 'string[]' }),
    body: type({
      '+': 'delete',
      email: 'string.email',
      name: '2 <= string <= 5',
      'colour?': "'red' | 'green'",
      items: type({ '+': 'delete', quantity: 'number >= 1' }).array().atMostLength(3),
    }),
    response: { 200: type({ '+': 'delete', total: 'number', 'note?': 'string' }) },
  },
}
