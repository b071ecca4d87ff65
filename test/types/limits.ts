import { type TypedApp, createApp, createRouter, defineRoute, routerFor, routesFor, sse } from 'mortar'
import { limits, type LimitsOptions } from '@mortar/limits'
import { number, object, string } from 'yup'

// Names of rules, where the application is known.
const app = createApp().use(
  limits({
    rules: {
      login: { limit: 5, window: '1m', by: 'ip' },
      search: { limit: 30, window: '1m', by: 'user' },
    },
  }),
)
const route = routesFor<typeof app>()
route({ limit: 'login' }, () => 1)
route({ limit: ['login', { limit: 1, window: '1s', by: 'ip' }] }, () => 1)
route({ limit: false }, () => 1)
// @ts-expect-error a rule that the application does not have
route({ limit: 'logim' }, () => 1)
// @ts-expect-error one of the names is not a rule
route({ limit: ['login', 'serch'] }, () => 1)
routerFor<typeof app>({ limit: 'search' }).get('/', { limit: 'login' }, () => 1)
// @ts-expect-error a rule that the application does not have
routerFor<typeof app>({ limit: 'serch' })
// @ts-expect-error a rule that the application does not have
routerFor<typeof app>().get('/', { limit: 'serch' }, () => 1)
const without = createApp().use(limits())
// @ts-expect-error the brick has no rules
routesFor<typeof without>()({ limit: 'login' }, () => 1)
limits({
  rules: {
    // @ts-expect-error a subject that does not exist
    login: { limit: 5, window: '1m', by: 'phone' },
  },
})

// Any name where the application or its rules are not known.
defineRoute({ limit: 'anything' }, () => 1)
createRouter({ limit: 'anything' }).get('/', { limit: ['any', 'other'] }, () => 1)
declare const options: LimitsOptions
const loose = createApp().use(limits(options))
routesFor<typeof loose>()({ limit: 'anything' }, () => 1)
declare const untyped: TypedApp<{}, { count: number }>
routesFor<typeof untyped>()({ limit: 'anything' }, () => 1)

// Statuses of errors.
defineRoute({ problems: [404, 409, 503] }, () => 1)
createRouter({ problems: [404] }).get('/', { problems: [429] }, () => 1)
// @ts-expect-error a success is not an error
defineRoute({ problems: [200] }, () => 1)
// @ts-expect-error a redirect is not an error
route({ problems: [404, 302] }, () => 1)
// @ts-expect-error a success is not an error
createRouter().get('/', { problems: [201] }, () => 1)
// @ts-expect-error a success is not an error
createRouter({ problems: [204] })

// The data of events.
const change = object({
  id: number().required(),
  kind: string()
    .oneOf(['new', 'gone'] as const)
    .required(),
})
const stream = { type: 'text/event-stream', schema: change } as const
defineRoute({ response: { 200: stream } }, (ctx) =>
  sse(ctx, async function* () {
    yield { event: 'change', data: { id: 1, kind: 'new' } }
    yield { id: 7 }
  }),
)
route({ response: { 200: stream } }, (ctx) => sse(ctx, [{ data: { id: 1, kind: 'gone' } }]))
// @ts-expect-error data of another kind
defineRoute({ response: { 200: stream } }, (ctx) => sse(ctx, [{ data: { id: '1', kind: 'gone' } }]))
defineRoute({ response: { 200: stream } }, (ctx) =>
  // @ts-expect-error a wrong key in a generator
  sse(ctx, async function* () {
    yield { data: { id: 1, sort: 'new' } }
  }),
)
defineRoute({ response: { 200: stream } }, (ctx) =>
  // @ts-expect-error a wrong type in a function with a parameter
  sse(ctx, async function* ({ signal }) {
    yield { data: { id: signal.aborted, kind: 'new' } }
  }),
)
// @ts-expect-error a string is short for data, which is an object here
createRouter().get('/', { response: { 200: stream } }, (ctx) => sse(ctx, ['text']))
defineRoute({ response: { 200: { type: 'text/event-stream', schema: string().required() } } }, (ctx) =>
  sse(ctx, ['text', { data: 'more' }]),
)
// Without a schema the data is any value.
defineRoute({ response: { 200: { type: 'text/event-stream' } } }, (ctx) => sse(ctx, ['text', { data: 1 }]))
createRouter().get('/', (ctx) => sse(ctx, ['text', { data: { any: 1 } }]))
