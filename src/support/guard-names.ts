// Names whose author expects the route to be guarded. Ignoring them would leave the route open.
const GUARD_NAMES = new Set(
  (
    'aut auht atuh auths authn authz authed authenticate authenticated authentication authorise authorised ' +
    'authorisation authorize authorized authorization guard guards guarded permission permissions policy policies ' +
    'policys protect protected requireauth requiresauth requirespolicy role roles'
  ).split(' '),
)

/** True for `Auth`, `policies`, `guard` and other names that look like `auth`. */
export function looksLikeGuard(name: string): boolean {
  const folded = name.toLowerCase().replaceAll(/[_-]/g, '')
  return name !== 'auth' && (folded === 'auth' || GUARD_NAMES.has(folded))
}
