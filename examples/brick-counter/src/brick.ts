import { createRouter, defineBrick, singleton, type Context } from 'mortar'
import { Counter } from './counter.ts'
import { findLowLimit } from './doctor.ts'
import { readOptions, type CounterOptions } from './options.ts'
import { PROBLEMS } from './problems.ts'
import { STARTUP_CODES } from './startup-codes.ts'

// Tells other bricks the type of the service.
declare module 'mortar' {
  interface KnownServices {
    counter: Counter
  }
}

/** The counter brick: the service `counter`, the member `ctx.counter` and two endpoints. */
export function counter(options: CounterOptions = {}) {
  const { limit, prefix } = readOptions(options)
  return defineBrick({
    name: 'counter',
    problems: PROBLEMS,
    startupCodes: STARTUP_CODES,
    services: { counter: singleton(() => new Counter(limit)) },
    members: { counter: (services) => services.counter },
    routes: [
      createRouter({ prefix, tags: ['counter'] })
        .get('/', (ctx) => ({ value: counterOf(ctx).value }))
        .post('/', (ctx) => ({ value: counterOf(ctx).increment() })),
    ],
    start: ({ logger }) => logger.info({ limit }, 'Counter ready'),
    doctor: ({ environment }) => findLowLimit(limit, environment),
  })
}

/** The member of this application: one brick object can serve several applications. */
function counterOf(ctx: Context): Counter {
  return ctx['counter'] as Counter
}
