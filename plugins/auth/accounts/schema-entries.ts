const BASIC = '@mortar/auth/basic/schema'
const OF_FEATURES: Readonly<Record<string, string>> = {
  auth_challenges: '@mortar/auth/challenges/schema',
  auth_session_methods: '@mortar/auth/session-methods/schema',
  auth_totp: '@mortar/auth/totp/schema',
  auth_recovery_codes: '@mortar/auth/totp/schema',
  auth_passkeys: '@mortar/auth/passkeys/schema',
  auth_accounts: '@mortar/auth/social/schema',
  auth_session_details: '@mortar/auth/sessions/schema',
  auth_deletions: '@mortar/auth/account/schema',
  auth_audit: '@mortar/auth/audit/schema',
  auth_known_browsers: '@mortar/auth/notices/schema',
}

/** Returns the module that exports the entity of a table, whose name may have a prefix. */
export function schemaEntry(table: string): string {
  const known = Object.keys(OF_FEATURES).find((name) => table.endsWith(name))
  return known === undefined ? BASIC : OF_FEATURES[known]!
}

/** Returns the statements of a schema module that export the entities of these tables, each in backticks. */
export function schemaStatements(tables: readonly string[]): string {
  const entries = new Set(tables.map(schemaEntry))
  return [...entries].map((entry) => `\`export * from '${entry}'\``).join(' and ')
}
