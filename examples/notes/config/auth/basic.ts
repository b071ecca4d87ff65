import { basicAuth } from 'mortar/auth/basic'
import { settings } from '../settings.ts'

/** E-mail and password on the application's own database. */
export const provider = basicAuth({
  db: ({ db }) => db,
  secret: settings.authSecret,
  // Hashes of a test run protect nobody and need not cost much.
  ...(settings.environment === 'test' ? { cost: { memory: 1024, passes: 1, parallelism: 1 } } : {}),
})
