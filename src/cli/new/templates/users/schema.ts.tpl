import { authUsers } from '@mortar/auth/basic/schema'

export { AuthEndedSessions, AuthRefreshTokens, AuthResetTokens } from '@mortar/auth/basic/schema'

/** The framework's users with a column of our own; it appears in `user.raw`. */
export const AuthUsers = authUsers<{ role: string }>({ role: { type: String, length: 20, default: 'user' } })
