import type { CheckedModule, Context, HandlerFor, RouteDefinition, TypedApp } from 'mortar'
import { array, date, number, object, string } from 'yup'
import { type Equal, expectType } from './expect-type.ts'
// A module may import its own types; no module is loaded twice.
// oxlint-disable-next-line import/no-self-import, import/no-cycle
import type * as own from './handler-for.ts'

// A route module with separate exports, whose handler has the types of its own module.
const note = object({
  id: number().required(),
  kind: string()
    .oneOf(['a', 'b'] as const)
    .required(),
  at: date().required(),
  tags: array(string().required()).required(),
})
export const auth = true
export const params = object({ id: number().required() })
export const response = { 200: note, 204: {} }

const good = { id: 1, kind: 'a', at: new Date(), tags: ['x'] } as const

type App = TypedApp<{ db: { find(): typeof good } }, { count: number }>
type Own = HandlerFor<typeof own>

export default (async (ctx) => {
  expectType<Equal<typeof ctx.params.id, number>>()
  void ctx.user.id
  // @ts-expect-error a success status that is not declared
  ctx.status = 201
  if (ctx.ip) return
  return { id: ctx.params.id, kind: 'a', at: new Date(), tags: [] }
}) satisfies Own
void (((ctx) => ctx.db.find()) satisfies HandlerFor<typeof own, App>)
// @ts-expect-error a string is not a note
void ((() => 'nonsense') satisfies Own)
// @ts-expect-error a value that the schema does not list
void ((() => ({ ...good, kind: 'c' })) satisfies HandlerFor<{ response: typeof response }>)
// @ts-expect-error the application has no such member
void (((ctx) => ctx.mail.find()) satisfies HandlerFor<{}, App>)

// The manifest compares each module with its own exports. It accepts a handler that was read alone.
const ownResponse = { response: { 200: note } }
const accepted = {
  loose: {
    ...ownResponse,
    params,
    body: note,
    default: async (ctx: Context) => ({ ...good, kind: 'a' as string, id: Number(ctx.params['id']) }),
  },
  precise: {
    ...ownResponse,
    params,
    default: (ctx: { params: { id: number } }) => ({ ...good, ...ctx.params }),
  },
  generator: { response: { 200: { type: 'text/csv' } }, async *default() {} },
  untyped: { ...ownResponse, default: (ctx: ReturnType<JSON['parse']>) => ctx },
  noResponse: { default: () => 'anything' },
  onlyErrors: { response: { 404: note }, default: () => 'anything' },
  wide: { response: {} as Readonly<Required<RouteDefinition>['response']>, default: () => 'anything' },
  middleware: { default: (_ctx: Context, next: () => Promise<unknown>) => next() },
  noDefault: { ...ownResponse },
}
void (accepted satisfies { [Name in keyof typeof accepted]: CheckedModule<(typeof accepted)[Name]> })

const nonsense = { ...ownResponse, default: () => 'nonsense' }
// @ts-expect-error a string is not a note
void (nonsense satisfies CheckedModule<typeof nonsense>)
const forgotten = { ...ownResponse, default: async () => void good }
// @ts-expect-error nothing is returned
void (forgotten satisfies CheckedModule<typeof forgotten>)
const inside = { ...ownResponse, default: async () => ({ ...good, tags: [1] }) }
// @ts-expect-error a wrong type inside
void (inside satisfies CheckedModule<typeof inside>)
const onePath = { ...ownResponse, default: (ctx: Context) => (ctx.ip ? good : null) }
// @ts-expect-error a wrong value on one of the paths
void (onePath satisfies CheckedModule<typeof onePath>)
const input = { params, default: (ctx: { params: { id: string } }) => ctx.params.id }
// @ts-expect-error the schema makes `id` a number
void (input satisfies CheckedModule<typeof input>)
