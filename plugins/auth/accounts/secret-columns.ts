import { fault } from '../startup-codes.ts'

/** Endings of names whose values are usually secret. */
const ENDING = /(?:secret|token|hash|key|code)s?$/i

/**
 * Refuses a public column or field that is named like a secret: `user.raw` is in `GET /auth/me` and in each access
 * token, which its owner can read.
 * @param names the application's own columns or fields that become part of `user.raw`.
 * @param listed names that the option `publicColumns` allows.
 * @throws StartupError `MORTAR_AUTH_SECRET_COLUMN` naming them.
 */
export function refuseSecretColumns(
  names: readonly string[],
  { listed = [], hide }: { readonly listed: readonly string[] | undefined; readonly hide: string },
): void {
  const secret = names.filter((name) => ENDING.test(name) && !listed.includes(name))
  if (secret.length === 0) return
  const [list, verb] = [secret.map((name) => `'${name}'`).join(', '), secret.length === 1 ? 'is' : 'are']
  throw fault(
    'MORTAR_AUTH_SECRET_COLUMN',
    `${list} of auth_users ${verb} named like a secret and would be in user.raw.`,
    { remedy: `${hide}, or list it in the option publicColumns if everybody with the token may read it.` },
  )
}
