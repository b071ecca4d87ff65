import { refuseFeatures } from '@mortar/auth/provider'
import { checkOptions, type OptionChecks } from 'mortar/kit'
import type { HostedAuthOptions } from './options.ts'

const DURATION = ['number', 'string'] as const
const ONE_OR_MORE = ['string', 'strings'] as const

/** Options that must not be `undefined`: by accident they would accept tokens that should be refused. */
const guard = true

/** Keys with their types. Addresses, durations and algorithms are checked where they are read. */
const RULES: OptionChecks<HostedAuthOptions>['keys'] = {
  issuer: 'anything',
  audience: { is: ONE_OR_MORE, guard },
  audienceClaim: { is: 'string', guard },
  authorizedParties: { is: 'strings', guard },
  claims: { is: 'object', guard },
  jwksUrl: 'string',
  algorithms: { is: 'strings', guard },
  types: { is: 'strings', guard },
  cookie: ONE_OR_MORE,
  clockTolerance: DURATION,
  timeout: DURATION,
  keyLifetime: DURATION,
  coolDown: DURATION,
  toUser: { is: 'function', guard },
}

/** @throws StartupError for an unknown option, a wrong type, or a token check that is undefined. */
export function checkHostedOptions(options: HostedAuthOptions): void {
  refuseFeatures(options, { of: 'hostedAuth()', where: 'the hosted provider manages accounts and sessions' })
  checkOptions(options, { of: 'hostedAuth()', brick: 'auth', keys: RULES })
}

/** A required string of a preset. */
export const TEXT = { is: 'string', required: true } as const

/** Checks the options of a preset. */
export function checkPresetOptions<Options extends object>(
  options: Options,
  of: string,
  keys: OptionChecks<Options>['keys'],
): void {
  checkOptions(options, { of, brick: 'auth', keys })
}
