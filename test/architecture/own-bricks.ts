import type { AnyBrick } from 'mortar'
import { auth, type AuthProvider } from '@mortar/auth'
import { database } from '@mortar/database'
import { jobs } from '@mortar/jobs'
import { limits } from '@mortar/limits'
import { mail } from '@mortar/mail'
import { metrics } from '@mortar/metrics'
import { tracing } from '@mortar/tracing'
import { redis } from '@mortar/redis'
import { realtime } from '@mortar/realtime'
import { channels } from '@mortar/realtime/channels'
import { webhooks } from '@mortar/webhooks'

const provider: AuthProvider = {
  name: 'nobody',
  securityScheme: { name: 'bearer', scheme: { type: 'http', scheme: 'bearer' } },
  connect: () => ({ identify: () => null }),
}

/** The bricks of this package; none of them is started. */
export function ownBricks(): readonly AnyBrick[] {
  return [
    database({ type: 'better-sqlite3', database: ':memory:' }),
    mail({ from: 'hello@example.com' }),
    metrics(),
    tracing(),
    redis({ url: 'redis://127.0.0.1:6379' }),
    limits(),
    jobs({ directory: '/app/jobs' }),
    webhooks({ events: [] }),
    realtime(),
    channels({ directory: '/app/channels' }),
    auth(provider),
  ]
}
