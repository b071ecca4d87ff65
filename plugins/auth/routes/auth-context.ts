import { Forbidden, type Authenticator, type BaseContext, type CoreServices } from 'mortar'
import { isSameOrigin } from 'mortar/kit'
import { canonicalEmail } from '../accounts/canonical-email.ts'
import { sessionOver } from '../errors.ts'
import type { FeatureName } from '../features/feature.ts'
import { eventOrigin } from '../flows/parts.ts'
import type { Grant } from '../flows/sessions.ts'
import type { ConnectedPasswordProvider } from '../connected-password-provider.ts'
import type { OwnSession } from '../flows/proof.ts'

type Ctx = BaseContext

/** Returns the provider of the application that received the request. */
export function authOf(ctx: Ctx): ConnectedPasswordProvider {
  // These routes are mounted only by the brick that registers this service, and only for a provider of this kind.
  return ctx.services['authProvider'] as ConnectedPasswordProvider
}

/** Returns the operations of a feature of that application. Only its own routes call this. */
export function featureOf<Api>(ctx: Ctx, name: FeatureName): Api {
  return authOf(ctx).features.get(name)!.api as Api
}

/**
 * Returns user and session of the access token.
 * @throws Unauthorized if the session has ended since the guard.
 */
export function ownSession(ctx: Ctx & { readonly token: string | null }): OwnSession {
  const claims = authOf(ctx).claimsOf(ctx.token)
  if (claims === null) throw sessionOver()
  return { userId: claims.sub, sessionId: claims.sid }
}

/** Returns the refresh token of the cookie, or null. To act on it, use `ownRefreshToken`. */
export function presentedToken(ctx: Ctx): string | null {
  return authOf(ctx).cookie.read({ cookie: ctx.get('cookie') })
}

/**
 * Returns the refresh token of the cookie, or null, and refuses cross-site requests.
 * @throws Forbidden `cross_site_request` if a page of another origin made the browser send the cookie.
 */
export function ownRefreshToken(ctx: Ctx): string | null {
  const token = presentedToken(ctx)
  if (token === null || isSameOrigin(ctx, trustedOrigins(ctx))) return token
  authOf(ctx).events.emit('auth.csrf.refused', { ...eventOrigin(ctx), path: ctx.path })
  throw new Forbidden('A request with the refresh cookie must come from a page of the same origin.', {
    code: 'cross_site_request',
  })
}

function trustedOrigins(ctx: Ctx): readonly string[] {
  // Every application has the first service; the auth brick registers the second.
  const { trustedOrigins: own, authenticator } = ctx.services as unknown as CoreServices & {
    readonly authenticator: Authenticator
  }
  const { appOrigin } = authOf(ctx)
  return [...own, ...(appOrigin === undefined ? [] : [appOrigin]), ...(authenticator.trustedOrigins ?? [])]
}

/** Returns the value of the device cookie, or null. It is not a credential, so its origin is not checked. */
export function deviceMark(ctx: Ctx): string | null {
  return authOf(ctx).device.read({ cookie: ctx.get('cookie') })
}

/** Sets the refresh cookie and the device cookie. */
export function setCookies(ctx: Ctx, grant: Grant): void {
  const { cookie, device } = authOf(ctx)
  cookie.set(ctx, grant)
  device.mark(ctx, grant.user)
}

/** Sets the refresh cookie and the device cookie, and returns the body of signup and login. */
export function signedInBody(ctx: Ctx, grant: Grant) {
  const { id, name, email } = grant.user
  setCookies(ctx, grant)
  return { user: { id, name, email }, accessToken: grant.accessToken, expiresIn: grant.expiresIn }
}

/** Returns the canonical form of a validated address. */
export function canonical(email: string): string {
  return canonicalEmail(email)!
}
