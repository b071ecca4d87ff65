import { startupErrors, type StartupCodes } from 'mortar/kit'

/** Codes of the start-up errors and doctor findings of the auth brick; `docs/startup-errors.md` has the same table. */
export const STARTUP_CODES = {
  MORTAR_AUTH_ACCOUNTS: {
    cause:
      'A command of `mortar auth` has no such account or session, or the provider keeps its accounts elsewhere',
    remedy:
      'Look for the account with `npx mortar auth users`, or use the tools of the service of the provider.',
  },
  MORTAR_AUTH_APP_URL: {
    cause: '`appUrl` is not set in production; links in mails need the public address of the application',
    remedy:
      'Set `appUrl` in the options of `createApp` (from `APP_URL`), or pass `sendResetEmail` to `basicAuth` and `url` to `emailVerification`.',
  },
  MORTAR_AUTH_ATOMICITY: {
    cause:
      'The server of `documentAuth` does not apply the condition and the change of one update as one step. FerretDB 1 does not',
    remedy: 'Use MongoDB, FerretDB 2 or another server that changes one document atomically.',
  },
  MORTAR_AUTH_AUDIENCE: {
    cause: '`hostedAuth` has neither `audience` nor `authorizedParties`, or `audience` is empty',
    remedy: 'Set the `audience` of this application, or `authorizedParties`.',
  },
  MORTAR_AUTH_BASE_PATH: {
    cause: 'An auth library serves another path than the one at which it is mounted; the message names both',
    remedy: 'Remove `prefix` from `auth()`, or configure the same path in the library and in `libraryAuth`.',
  },
  MORTAR_AUTH_DATABASE: {
    cause:
      '`basicAuth` or `documentAuth` has no database, a database of the wrong type, or one that is not connected',
    remedy: 'Register `database(…)`, or pass the provider a `db` of the type that it supports.',
  },
  MORTAR_AUTH_ENTITIES: {
    cause:
      'The DataSource of `basicAuth` lacks an entity of the provider in production; the message names its table',
    remedy:
      "Write `export * from '@mortar/auth/basic/schema'`, or what the message names, in the schema module, and generate a migration.",
  },
  MORTAR_AUTH_HASH_COST: {
    cause: 'The cost of password hashes is too low for production, or out of range',
    remedy: 'Remove the cost, or set one within the limits that the message names.',
  },
  MORTAR_AUTH_INDEX: {
    cause: 'A unique index of `documentAuth` is missing in production, or cannot be created',
    remedy:
      'Call `ensureAuthIndexes` when you deploy, or set `createIndexes: true`; remove duplicates first.',
  },
  MORTAR_AUTH_ISSUER: {
    cause:
      '`issuer` or `jwksUrl` of `hostedAuth` is missing, is not an absolute address, or is not https in production',
    remedy: 'Write the absolute https address. The issuer must equal the `iss` claim of a token exactly.',
  },
  MORTAR_AUTH_LIMIT: {
    cause: 'A rate limit names an unknown rule, or its numbers would limit nothing',
    remedy: 'Use the rule that the message suggests, with positive integers.',
  },
  MORTAR_AUTH_OPTION: {
    cause:
      'A lifetime, `cookieName`, `appUrl`, `userFields`, `signUpFields` or `features` of the auth provider is invalid, out of range or already used',
    remedy: "Use the form that the message names. A lifetime is in seconds, or a duration such as `'15m'`.",
  },
  MORTAR_AUTH_POLICY: {
    cause: 'A policy is not a function, or has the name of a policy of a feature',
    remedy: 'Write it as `(user, ctx) => boolean`, under another name.',
  },
  MORTAR_AUTH_PROVIDER: {
    cause:
      '`auth()` was given a value that is not a provider, or a provider that lacks a part that it declares',
    remedy: 'Pass the return value of `basicAuth()` or of another provider.',
  },
  MORTAR_AUTH_SEALED: {
    cause:
      'Secrets of second factors are sealed with an older secret of the application, or with one that is not configured any more',
    remedy:
      'Put the old secret back into `AUTH_SECRETS`, and run `npx mortar auth reseal` before you remove it.',
  },
  MORTAR_AUTH_SCHEMA: {
    cause:
      'The tables of `basicAuth` are from an earlier version and lack a column. The message names pending migrations',
    remedy: 'Run the pending migrations, or generate one and run it.',
  },
  MORTAR_AUTH_SECRET: {
    cause:
      'The auth provider has no secret, or a weak one in production: too short, too few different characters, or a placeholder',
    remedy: 'Set `AUTH_SECRET` to a long random value, as the message shows.',
  },
  MORTAR_AUTH_SECRET_COLUMN: {
    cause:
      'The name of a public column of `auth_users`, or of a field in `userFields`, looks like a secret (…secret, …token, …hash, …key, …code)',
    remedy:
      'Set `select: false` on the column, remove the field from `userFields`, or list the name in `publicColumns`.',
  },
  MORTAR_AUTH_UNREACHABLE: {
    cause: 'The server of `documentAuth` does not respond within five seconds, or refuses the connection',
    remedy:
      'Check that the server runs, and check user, password, `replicaSet` and TLS in its connection string.',
  },
  MORTAR_DOCTOR_ASVS: {
    cause:
      'A note: the level of OWASP ASVS 5.0 that authentication reaches. A warning in production when options break level 1',
    remedy: 'Set the options that the finding names.',
  },
  MORTAR_DOCTOR_COOKIES: {
    cause: 'A note: whether cookies are `Secure`',
    remedy: 'No action is needed; `NODE_ENV` decides it.',
  },
  MORTAR_DOCTOR_TABLES: {
    cause: 'The schema module lacks tables that authentication needs',
    remedy: "Add what the message names, such as `export * from '@mortar/auth/basic/schema'`.",
  },
} as const satisfies StartupCodes

/** Makes a `StartupError` with one of these codes and its remedy. */
export const fault = startupErrors({ brick: 'auth', codes: STARTUP_CODES })
