import { basicAuth } from '@mortar/auth/basic'
import { features } from './features.ts'
import { settings } from '../settings.ts'

/** E-mail and password on the application's own database. */
export const provider = basicAuth({
  db: ({ db }) => db,
  secret: settings.authSecret,
  features,
  // Hashes of a test run protect no real account, so they may be cheap.
  ...(settings.environment === 'test' ? { cost: { memory: 1024, passes: 1, parallelism: 1 } } : {}),
})
