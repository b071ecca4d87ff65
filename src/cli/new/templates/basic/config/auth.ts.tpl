import type { AuthOptions } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
// #if features
import { emailVerification } from '@mortar/auth/email-verification'
import { recent } from '@mortar/auth/recent'
import { sessions } from '@mortar/auth/sessions'
import { totp } from '@mortar/auth/totp'
// #end
import type { AuthUsers } from '../schema.ts'
import { settings } from './settings.ts'

/** The provider of users: e-mail and password on the application's own database. */
export const provider = basicAuth<typeof AuthUsers>({
  db: ({ db }) => db,
  secret: settings.authSecret,
// #if features
  features: [recent(), sessions(), emailVerification(), totp({ issuer: '{{title}}' })],
// #end
  // Cheap hashes are enough for tests.
  ...(settings.environment === 'test' ? { cost: { memory: 1024, passes: 1, parallelism: 1 } } : {}),
})

export const authOptions = {
  policies: {
    admin: (user) => user.raw['role'] === 'admin',
  },
} satisfies AuthOptions
