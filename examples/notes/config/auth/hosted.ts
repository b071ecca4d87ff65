import { hostedAuth } from 'mortar/auth/hosted'
import { settings } from '../settings.ts'

/** A sign-in provider elsewhere: whatever OpenID Connect server `AUTH_ISSUER` is. For Clerk, Auth0 … take its preset. */
export const provider = hostedAuth({
  issuer: settings.authIssuer,
  audience: settings.authAudience,
})
