import type { Redis } from 'ioredis'
import type { Registry } from 'prom-client'
import type { DataSource } from 'typeorm'
import {
  defineBrick,
  scoped,
  singleton,
  transient,
  value,
  type Authenticator,
  type BrickServices,
  type Cradle,
  type Limiter,
  type Logger,
  type User,
} from 'mortar'
import type { ConnectedProvider } from '@mortar/auth'
import type { DatabaseServices } from '@mortar/database'
import type { Outbox, TemplateMailer } from '@mortar/mail'
import '@mortar/limits'
import '@mortar/metrics'
import '@mortar/redis'
import { expectType, type Equal } from './expect-type.ts'

class Ledger {
  readonly entries: readonly string[] = []
}
// A brick tells other bricks the type of its service.
declare module 'mortar' {
  interface KnownServices {
    ledger: Ledger
    shelf: string
  }
}
defineBrick({
  name: 'reader',
  services: {
    size: singleton(({ ledger, logger, unknownName }) => {
      expectType<Equal<typeof ledger, Ledger>>()
      expectType<Equal<typeof logger, Logger>>()
      expectType<Equal<typeof unknownName, unknown>>()
      return ledger.entries.length
    }),
    mine: scoped(({ ledger, user, size }) => {
      expectType<Equal<typeof ledger, Ledger>>()
      expectType<Equal<typeof user, User | null>>()
      // The types of the brick's own services are read from these factories.
      expectType<Equal<typeof size, unknown>>()
      return user?.id
    }),
    each: transient((services) => {
      expectType<Equal<typeof services.ledger, Ledger>>()
      // @ts-expect-error the service has no such key
      return services.ledger.rows as unknown
    }),
  },
  members: {
    entries: ({ ledger, size, other }) => {
      expectType<Equal<typeof size, number>>()
      expectType<Equal<typeof other, unknown>>()
      return ledger.entries
    },
  },
  start: ({ ledger }) => expectType<Equal<typeof ledger, Ledger>>(),
  stop: ({ ledger }) => expectType<Equal<typeof ledger, Ledger>>(),
  doctor: ({ ledger }) => {
    expectType<Equal<typeof ledger, Ledger>>()
    return []
  },
  checks: {
    ledger: ({ ledger }) => expectType<Equal<typeof ledger, Ledger>>(),
    slow: { run: ({ ledger }) => expectType<Equal<typeof ledger, Ledger>>(), timeout: '1s' },
  },
})

// A service that nothing declares cannot be used without its type, so that a misspelt name is found.
defineBrick({
  name: 'misspelt',
  // @ts-expect-error the declared name is `ledger`
  start: ({ legder }) => legder.entries as unknown,
})

// The brick's own type of a name precedes the known one. The factories of its services are read before it is known.
defineBrick({
  name: 'other-shelf',
  services: {
    shelf: value(7),
    twice: singleton(({ shelf }: Cradle) => 2 * (shelf as number)),
  },
  start: ({ shelf }) => expectType<Equal<typeof shelf, number>>(),
})

// A factory may annotate a service that nothing declares, such as one that the application provides.
class Journal {
  readonly lines: number = 1
}
export const annotatesOther = defineBrick({
  name: 'annotates-other',
  services: {
    lines: singleton(({ journal }: { journal: Journal }) => journal.lines),
    owned: scoped(
      ({ journal, user }: { journal: Journal; user: User | null }) => [user, journal.lines] as const,
    ),
  },
  members: {
    next: ({ lines, owned }) => {
      expectType<Equal<typeof owned, readonly [User | null, number]>>()
      return lines + 1
    },
  },
})
defineBrick({
  name: 'misspelt-factory',
  services: {
    // @ts-expect-error the declared name is `ledger`
    bad: singleton(({ legder }) => legder.entries as unknown),
  },
})

// The same types in functions outside the definition.
const entriesOf = ({ ledger }: BrickServices): readonly string[] => ledger.entries
const shelfOf = ({ shelf }: BrickServices<{ shelf: number }>): number => shelf
export const annotated = defineBrick({
  name: 'annotated',
  services: { entries: singleton(entriesOf), loose: singleton(({ ledger }: Cradle) => ledger as number) },
  members: { entries: ({ entries }) => entries },
  start: (services) => [entriesOf(services), shelfOf({ ...services, shelf: 1 })],
})

// The bricks of the package are known where their module is imported.
defineBrick({
  name: 'uses-all',
  services: {
    usual: singleton(
      ({ db, migrations, redis, limiter, mailer, mailOutbox, metrics, authenticator, authProvider }) => {
        expectType<Equal<typeof db, DataSource>>()
        expectType<Equal<typeof migrations, DatabaseServices['migrations']>>()
        expectType<Equal<typeof redis, Redis>>()
        expectType<Equal<typeof limiter, Limiter>>()
        expectType<Equal<typeof mailer, TemplateMailer>>()
        expectType<Equal<typeof mailOutbox, Outbox>>()
        expectType<Equal<typeof metrics, Registry>>()
        expectType<Equal<typeof authenticator, Authenticator>>()
        expectType<Equal<typeof authProvider, ConnectedProvider>>()
      },
    ),
  },
})
