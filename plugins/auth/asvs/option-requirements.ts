import type { FeatureName } from '../features/feature.ts'
import { resolveLimits, type LimitRule, type LimitScope } from '../limits/limit-rules.ts'
import { isCostForProduction } from '../passwords/passwords.ts'
import type { AsvsConfiguration, AsvsLevel } from './configuration.ts'

/** Requirements that an option meets or breaks. */
export interface OptionRequirement {
  /** Ids of OWASP ASVS 5.0. */
  readonly ids: readonly string[]
  readonly level: AsvsLevel
  isMet(configuration: AsvsConfiguration): boolean
  /** The option to set, as a phrase. */
  readonly set: string
}

/** Requirements of `docs/asvs.md`, levels 1 and 2, that depend on options of a provider with e-mail and password. */
export const OPTION_REQUIREMENTS: readonly OptionRequirement[] = [
  {
    ids: ['3.3.1'],
    level: 1,
    isMet: ({ options }) => options.secureCookie !== false,
    set: 'secureCookie left out or true',
  },
  {
    ids: ['6.1.1'],
    level: 1,
    isMet: keepsOwnersIn,
    set: 'deviceCookie and limits.login.device on, so that strangers cannot lock an owner out',
  },
  {
    ids: ['6.2.4'],
    level: 1,
    isMet: ({ options }) => options.refuseWeakPasswords !== false,
    set: 'refuseWeakPasswords left out or true',
  },
  {
    ids: ['6.3.1'],
    level: 1,
    isMet: (configuration) =>
      isLimited(configuration, 'login', ['ip']) &&
      isLimited(configuration, 'login', ['pair', 'address']) &&
      isLimited(configuration, 'changePassword', ['user']),
    set: 'limits on: login by ip and by pair or address, changePassword by user',
  },
  {
    ids: ['6.1.2', '6.2.11'],
    level: 2,
    isMet: ({ options }) =>
      options.refuseWeakPasswords !== false && (options.passwordWords ?? []).some((word) => word !== ''),
    set: 'passwordWords',
  },
  {
    ids: ['6.2.12'],
    level: 2,
    isMet: ({ options }) => (options.breachedPasswords ?? false) !== false,
    set: 'breachedPasswords',
  },
  {
    ids: ['6.3.3', '6.4.4'],
    level: 2,
    isMet: (configuration) => hasFeature(configuration, 'totp') || hasFeature(configuration, 'passkeys'),
    set: "features with passkeys() or totp(), and auth: 'mfa' on the routes of users",
  },
  {
    ids: ['6.5.5'],
    level: 2,
    isMet: ({ lifetimes }) => lifetimes.resetToken <= 600,
    set: "resetTokenLifetime of at most '10m'",
  },
  {
    ids: ['6.6.3'],
    level: 2,
    isMet: (configuration) =>
      isLimited(configuration, 'reset', ['ip']) && isLimited(configuration, 'code', ['user']),
    set: 'limits.reset and limits.code on',
  },
  {
    ids: ['7.3.1'],
    level: 2,
    isMet: ({ lifetimes }) => lifetimes.idle !== undefined,
    set: 'idleTimeout',
  },
  {
    ids: ['7.5.1'],
    level: 2,
    isMet: (configuration) => hasFeature(configuration, 'recent'),
    set: 'features with recent()',
  },
  {
    ids: ['7.5.2'],
    level: 2,
    isMet: (configuration) => hasFeature(configuration, 'sessions'),
    set: 'features with sessions()',
  },
  {
    ids: ['9.2.3', '9.2.4'],
    level: 2,
    isMet: ({ options, appUrl }) => [options.issuer, options.audience, appUrl].some(Boolean),
    set: 'appUrl, or issuer and audience',
  },
  {
    ids: ['11.4.2'],
    level: 2,
    isMet: ({ options }) => isCostForProduction(options.cost),
    set: 'cost left out or higher',
  },
  {
    ids: ['16.3.1'],
    level: 2,
    isMet: ({ options }) => options.logEvents !== false,
    set: 'logEvents left out or true',
  },
]

/** Strangers can use up the limit of an address, if there is one; a device cookie then has its own budget. */
function keepsOwnersIn(configuration: AsvsConfiguration): boolean {
  const { deviceCookie } = configuration.options
  return (
    !isLimited(configuration, 'login', ['address']) ||
    (deviceCookie !== false && isLimited(configuration, 'login', ['device']))
  )
}

function hasFeature({ options }: AsvsConfiguration, name: FeatureName): boolean {
  return (options.features ?? []).some((feature) => feature.name === name)
}

/** True when the rule counts by one of these scopes. */
function isLimited({ options }: AsvsConfiguration, rule: LimitRule, scopes: readonly LimitScope[]): boolean {
  return resolveLimits(options.limits).some((each) => each.rule === rule && scopes.includes(each.scope))
}
