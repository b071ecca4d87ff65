import {
  type Brick,
  type Clock,
  type Context,
  type Environment,
  type EventBus,
  type Logger,
  type User,
  defineBrick,
  scoped,
  singleton,
  transient,
  value,
} from 'mortar'
import { type Equal, expectType } from './expect-type.ts'

class Counter {
  count = 0
}

const counter = defineBrick({
  name: 'counter',
  requires: ['logger'],
  services: {
    counter: singleton(() => new Counter()),
    limit: value(10),
    mine: scoped(({ user, ctx, requestId }) => {
      expectType<Equal<typeof user, User | null>>()
      expectType<Equal<typeof ctx, Context>>()
      expectType<Equal<typeof requestId, string>>()
      return [requestId]
    }),
    stamp: transient(({ clock }) => {
      expectType<Equal<typeof clock, Clock>>()
      return clock.now()
    }),
  },
  members: {
    count: (services, ctx) => {
      expectType<Equal<typeof services.counter, Counter>>()
      expectType<Equal<typeof services.limit, number>>()
      expectType<Equal<typeof services.logger, Logger>>()
      expectType<Equal<typeof ctx, Context>>()
      return services.counter.count
    },
    name: () => 'counter' as const,
  },
  start: (services) => {
    expectType<Equal<typeof services.counter, Counter>>()
    expectType<Equal<typeof services.mine, string[]>>()
    expectType<Equal<typeof services.events, EventBus>>()
    expectType<Equal<typeof services.environment, Environment>>()
  },
  stop: async ({ counter: stopped }) => {
    expectType<Equal<typeof stopped, Counter>>()
  },
})

type Parts<B> = B extends Brick<infer Name, infer Services, infer Members> ? [Name, Services, Members] : never
type CounterParts = Parts<typeof counter>

expectType<Equal<CounterParts[0], 'counter'>>()
expectType<Equal<CounterParts[1], { counter: Counter; limit: number; mine: string[]; stamp: number }>>()
expectType<Equal<CounterParts[2], { count: number; name: 'counter' }>>()

const plain = defineBrick({ name: 'plain' })
expectType<Equal<Parts<typeof plain>[0], 'plain'>>()

// @ts-expect-error a brick has a name
defineBrick({})

defineBrick({
  name: 'typo',
  // @ts-expect-error a slot that bricks do not have
  service: {},
})

defineBrick({
  name: 'bare',
  // @ts-expect-error a service is made by singleton, scoped, transient or value
  services: { clock: () => 1 },
})
