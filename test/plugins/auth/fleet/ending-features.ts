import { account } from '@mortar/auth/account'
import { AuthDeletions } from '@mortar/auth/account/schema'
import * as schema from '@mortar/auth/basic/schema'
import * as challenges from '@mortar/auth/challenges/schema'
import { notices } from '@mortar/auth/notices'
import { AuthKnownBrowsers } from '@mortar/auth/notices/schema'
import { recent } from '@mortar/auth/recent'
import { sessions } from '@mortar/auth/sessions'
import { AuthSessionDetails } from '@mortar/auth/sessions/schema'
import { totp } from '@mortar/auth/totp'
import { AuthRecoveryCodes, AuthSessionMethods, AuthTotp } from '@mortar/auth/totp/schema'

/** The features that end sessions, with a limit of sessions; without it none. */
export function endingFeatures(most: number | undefined) {
  return most === undefined ? [] : [recent(), sessions(), notices(), totp(), account()]
}

const TABLES = [
  AuthDeletions,
  AuthKnownBrowsers,
  AuthSessionDetails,
  AuthRecoveryCodes,
  AuthSessionMethods,
  AuthTotp,
]

/** The tables of the processes of a fleet. */
export function entitiesOf(most: number | undefined) {
  return [schema, challenges, ...(most === undefined ? [] : TABLES)]
}
