/** The tables of the features of the sign-in. */
export { AuthChallenges } from '@mortar/auth/challenges/schema'
export { AuthSessionDetails } from '@mortar/auth/sessions/schema'
export { AuthRecoveryCodes, AuthSessionMethods, AuthTotp } from '@mortar/auth/totp/schema'
