import { hostedAuth } from '@mortar/auth-hosted'
import { settings } from '../settings.ts'

/** An external sign-in provider: the OpenID Connect server `AUTH_ISSUER`. For Clerk, Auth0 … use its preset. */
export const provider = hostedAuth({
  issuer: settings.authIssuer,
  audience: settings.authAudience,
})
