/** Entry `@mortar/auth/notices/schema`: the entity of the table of `notices()`. */
import { entityOf } from '../../basic/entity-of.ts'
import { KNOWN_BROWSERS } from './table.ts'

/** `auth_known_browsers`: browsers and networks that need no notice. */
export const AuthKnownBrowsers = entityOf(KNOWN_BROWSERS)
