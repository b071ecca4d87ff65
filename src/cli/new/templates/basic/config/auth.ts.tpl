import type { AuthOptions } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import type { AuthUsers } from '../schema.ts'
import { settings } from './settings.ts'

/** The provider of users: e-mail and password on the application's own database. */
export const provider = basicAuth<typeof AuthUsers>({
  db: ({ db }) => db,
  secret: settings.authSecret,
  // Cheap hashes are enough for tests.
  ...(settings.environment === 'test' ? { cost: { memory: 1024, passes: 1, parallelism: 1 } } : {}),
})

export const authOptions = {
  policies: {
    admin: (user) => user.raw['role'] === 'admin',
  },
} satisfies AuthOptions
