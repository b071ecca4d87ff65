import type { StartupCodes } from '../../src/index.ts'

/** Codes of the start-up errors and doctor findings of the auth brick; `docs/startup-errors.md` has the same table. */
export const STARTUP_CODES = {
  MORTAR_AUTH_APP_URL: {
    cause: 'Reset links need the public address of the application, and `appUrl` is not set in production',
    remedy:
      'Set `appUrl` in the options of `createApp` (from `APP_URL`), or give `basicAuth` a `sendResetEmail`.',
  },
  MORTAR_AUTH_AUDIENCE: {
    cause: '`hostedAuth` has neither an audience nor authorised parties, or an empty audience',
    remedy: 'Give it the `audience` of this application, or `authorizedParties`.',
  },
  MORTAR_AUTH_BASE_PATH: {
    cause:
      'An auth library answers under another path than the one at which it is mounted; the message names both',
    remedy: 'Leave `prefix` out of `auth()`, or give the library and `libraryAuth` one path.',
  },
  MORTAR_AUTH_DATABASE: {
    cause:
      "`basicAuth` or `documentAuth` has no database, or one of the other's type, or one that is not connected",
    remedy: 'Register `database(…)`, or give the provider a `db` of its own kind.',
  },
  MORTAR_AUTH_HASH_COST: {
    cause: 'The cost of password hashes is too low for production, or out of range',
    remedy: 'Leave the cost out, or give one within the limits that the message names.',
  },
  MORTAR_AUTH_INDEX: {
    cause: 'A unique index of `documentAuth` is missing in production, or cannot be created',
    remedy:
      'Call `ensureAuthIndexes` when you deploy, or set `createIndexes: true`; remove duplicates first.',
  },
  MORTAR_AUTH_ISSUER: {
    cause:
      '`issuer` or `jwksUrl` of `hostedAuth` is missing, is not an absolute address, or is not https in production',
    remedy: 'Write the absolute https address, for the issuer exactly as `iss` of a token.',
  },
  MORTAR_AUTH_LIMIT: {
    cause: 'A rate limit names an unknown rule, or has numbers that would limit nothing',
    remedy: 'Write the rule that the message suggests, with whole positive numbers.',
  },
  MORTAR_AUTH_OPTION: {
    cause:
      'A lifetime, `cookieName`, `appUrl` or `userFields` of the auth provider cannot be read, or is out of range or taken',
    remedy: "Write what the message names: for a lifetime seconds or a duration such as `'15m'`.",
  },
  MORTAR_AUTH_POLICY: {
    cause: 'A policy is not a function',
    remedy: 'Write it as `(user, ctx) => boolean`.',
  },
  MORTAR_AUTH_PROVIDER: {
    cause: '`auth()` was given something that is not a provider, or a provider that lacks what it declares',
    remedy: 'Give it what `basicAuth()` or another provider returns.',
  },
  MORTAR_AUTH_SCHEMA: {
    cause:
      'The tables of `basicAuth` are of an earlier version: a column is missing. The message names pending migrations',
    remedy: 'Run the pending migrations, or generate one and run it.',
  },
  MORTAR_AUTH_SECRET: {
    cause:
      'The auth provider has no secret, or in production a weak one: short, of few different characters, a placeholder',
    remedy: 'Set `AUTH_SECRET` to a long random value, as the message shows.',
  },
  MORTAR_AUTH_SECRET_COLUMN: {
    cause:
      'A public column of `auth_users`, or a field in `userFields`, is named like a secret (…secret, …token, …hash, …key, …code)',
    remedy: 'Give it `select: false` (leave it out of `userFields`), or list it in `publicColumns`.',
  },
  MORTAR_DOCTOR_ASVS: {
    cause:
      'The level of OWASP ASVS 5.0 that authentication reaches; a warning in production when options break level 1',
    remedy: 'Set the options that the finding names.',
  },
  MORTAR_DOCTOR_COOKIES: {
    cause: 'A note: whether cookies are `Secure`',
    remedy: 'Nothing is to be done; `NODE_ENV` decides it.',
  },
  MORTAR_DOCTOR_TABLES: {
    cause: 'The schema module lacks tables that authentication works on',
    remedy: "Write `export * from 'mortar/auth/basic/schema'` in it.",
  },
} as const satisfies StartupCodes
