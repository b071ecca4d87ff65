import type { OptionChecks } from 'mortar/kit'
import type { PasswordAuthOptions } from './options.ts'
import type { HashCost } from '../passwords/passwords.ts'

const DURATION = ['number', 'string'] as const

/**
 * Rules for the options of both providers with e-mail and password. `secret`, `accessTokenCache` and
 * the values in `limits` and `cost` are checked where they are read.
 */
export const PASSWORD_RULES: OptionChecks<PasswordAuthOptions>['keys'] = {
  secret: 'anything',
  sendResetEmail: 'function',
  appUrl: 'string',
  issuer: 'string',
  audience: 'string',
  accessTokenLifetime: DURATION,
  accessTokenCache: 'anything',
  refreshTokenLifetime: DURATION,
  resetTokenLifetime: DURATION,
  refreshGrace: DURATION,
  idleTimeout: DURATION,
  maxSessions: 'count',
  freshSession: 'boolean',
  staleAfter: DURATION,
  limits: ['object', 'false'],
  cost: {
    is: 'object',
    keys: {
      memory: 'number',
      passes: 'number',
      parallelism: 'number',
    } satisfies OptionChecks<HashCost>['keys'],
  },
  cookieName: 'string',
  secureCookie: 'boolean',
  deviceCookie: 'boolean',
  features: 'list',
  sendMail: 'function',
  logEvents: 'boolean',
  refuseWeakPasswords: 'boolean',
  // An accidental `undefined` would accept every password.
  passwordRule: { is: 'function', guard: true },
  passwordWords: 'strings',
  publicColumns: 'strings',
  signUpFields: 'object',
  breachedPasswords: { is: 'boolean', keys: { timeout: 'anything', url: 'anything', fetch: 'function' } },
}
