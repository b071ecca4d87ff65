import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import type { DataSource } from 'typeorm'
import { libraryAuth } from '@mortar/auth-library'
import { throughDataSource } from '@mortar/auth-library/kysely'
import { settings } from '../settings.ts'

const basePath = '/auth'

/** better-auth on the application's own database. Its tables are made when the application starts. */
export const provider = libraryAuth(({ db }) => accountsIn(db), {
  basePath,
  prepare: async ({ options }) => (await getMigrations(options)).runMigrations(),
})

function accountsIn(db: DataSource) {
  return betterAuth({
    basePath,
    baseURL: settings.appUrl,
    // better-auth has one secret.
    secret: [settings.authSecret].flat()[0],
    database: throughDataSource(db),
    emailAndPassword: { enabled: true },
    user: { additionalFields: { role: { type: 'string', defaultValue: 'user', input: false } } },
    // Its tables do not exist yet when it is made.
    advanced: { database: { validateSchema: false } },
    telemetry: { enabled: false },
  })
}
