import { emailVerification } from '@mortar/auth/email-verification'
import { recent } from '@mortar/auth/recent'
import { sessions } from '@mortar/auth/sessions'
import { totp } from '@mortar/auth/totp'
import { settings } from '../settings.ts'

/** Endpoints besides those of e-mail and password, if `AUTH_FEATURES` is true. */
export const features = settings.authFeatures
  ? [recent(), sessions(), emailVerification(), totp({ issuer: 'Notes' })]
  : []
