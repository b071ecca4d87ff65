import { checkOptions, type OptionChecks } from '../../../src/index.ts'
import type { HostedAuthOptions } from './options.ts'

const DURATION = ['number', 'string'] as const
const ONE_OR_MORE = ['string', 'strings'] as const

/** An accidental `undefined` would accept tokens that the option is meant to refuse. */
const guard = true

/** Addresses, durations and algorithms are checked where they are read. */
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

/** @throws StartupError for an unknown option, one of another type, or a check of tokens that is undefined. */
export function checkHostedOptions(options: HostedAuthOptions): void {
  checkOptions(options, { of: 'hostedAuth()', brick: 'auth', keys: RULES })
}

/** A string that a preset cannot do without. */
export const TEXT = { is: 'string', required: true } as const

/** The same for the options of a preset. */
export function checkPresetOptions<Options extends object>(
  options: Options,
  of: string,
  keys: OptionChecks<Options>['keys'],
): void {
  checkOptions(options, { of, brick: 'auth', keys })
}
