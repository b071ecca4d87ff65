import type { TableShape } from '../../accounts/records.ts'

/** `auth_known_browsers`: kinds of browsers and networks from which a user has signed in, as hashes. */
export const KNOWN_BROWSERS: TableShape = { name: 'auth_known_browsers', key: ['browser_hash', 64] }
