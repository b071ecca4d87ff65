import { randomInt } from 'node:crypto'
import type { Cradle } from 'mortar'
import { createMemoryLimiter, optionalService } from 'mortar/kit'
import type { AuthStore } from './accounts/auth-store.ts'
import type { Records, TableShape } from './accounts/records.ts'
import type { AuthEvents } from './events/events.ts'
import { tablesOf } from './features/check-features.ts'
import { createOutbox } from './flows/outbox.ts'
import type { AuthParts } from './flows/parts.ts'
import type { FeaturePoints } from './flows/proof.ts'
import { createResetMail } from './flows/reset-mail.ts'
import { createDeviceMarks } from './limits/device-marks.ts'
import { mostResetTokens } from './limits/limit-rules.ts'
import { createRateLimits } from './limits/rate-limits.ts'
import type { PasswordAuthOptions, ResolvedLifetimes } from './options/options.ts'
import { createPasswords } from './passwords/passwords.ts'
import { createPasswordJudge } from './passwords/weak-passwords/password-judge.ts'
import { createEndedSessions } from './sessions/ended-sessions.ts'
import { createAccessTokens } from './tokens/access-tokens.ts'
import type { AuthKeys } from './tokens/keys.ts'
import { createRefreshTokens } from './tokens/refresh-tokens.ts'
import { createResetTokens } from './tokens/single-use-tokens.ts'
import { createRotationClock } from './tokens/rotation-clock.ts'
import { createVault } from './tokens/vault.ts'

/** Resolved settings of a provider. */
export interface Settings {
  readonly options: PasswordAuthOptions
  readonly keys: AuthKeys
  readonly lifetimes: ResolvedLifetimes
}

/** Parts that differ between applications with one provider. */
export interface Place {
  readonly store: AuthStore
  readonly services: Cradle
  readonly features: readonly FeaturePoints[]
  /** The table of a feature. */
  records(shape: TableShape): Records
}

/** Creates the dependencies of the flows for one application. */
export function createParts(settings: Settings, place: Place): AuthParts {
  const { options, keys, lifetimes } = settings
  const { store, services, features } = place
  const { limits, cost } = options
  const { clock, logger, outages } = services
  const isTest = services.environment === 'test'
  return {
    store,
    events: services.events.typed<AuthEvents>(),
    clock,
    rotations: createRotationClock(clock, store),
    logger,
    outages,
    passwords: createPasswords({ clock, ...(cost && { cost }) }),
    accessTokens: accessTokensOf(settings, services),
    refreshTokens: createRefreshTokens({ keys }),
    resetTokens: createResetTokens(),
    vault: createVault(keys.seal),
    endedSessions: createEndedSessions({ lifetime: lifetimes.access, store, clock }),
    limits: createRateLimits({
      key: keys.limits,
      limiter: optionalService(services, 'limiter') ?? createMemoryLimiter({ clock }),
      isTest,
      ...(limits !== undefined && { limits }),
    }),
    lifetimes,
    maxSessions: options.maxSessions,
    devices: createDeviceMarks(keys.device),
    judgePassword: createPasswordJudge(options, services),
    mostResetTokens: mostResetTokens(limits, lifetimes.resetToken),
    resetMail: createResetMail(options, lifetimes, services),
    unfinished: new Set(),
    features,
    tables: tablesOf(options.features).map((shape) => ({ shape, records: place.records(shape) })),
    mails: outboxOf(options, services),
  }
}

function accessTokensOf({ options, keys, lifetimes }: Settings, services: Cradle): AuthParts['accessTokens'] {
  const { issuer = defaultIssuer(options, services), audience = issuer, accessTokenCache: cache } = options
  return createAccessTokens({
    keys,
    issuer,
    audience,
    lifetime: lifetimes.access,
    clock: services.clock,
    ...(cache !== undefined && { cache }),
  })
}

/** Two applications with one secret refuse each other's tokens, unless neither has an `appUrl`. */
function defaultIssuer(options: PasswordAuthOptions, services: Cradle): string {
  const { appUrl = services.appUrl } = options
  return appUrl === undefined ? 'mortar' : appUrl.replace(/\/+$/, '')
}

/** Milliseconds: much longer than the work, so that the work rarely overlaps with the next request. */
const MAIL_DELAY = [50, 500] as const

function outboxOf({ sendMail }: PasswordAuthOptions, services: Cradle): AuthParts['mails'] {
  const { clock, logger, environment } = services
  return createOutbox({
    sendMail,
    mailer: () => optionalService(services, 'mailer'),
    delay: environment === 'test' ? () => 0 : () => randomInt(...MAIL_DELAY),
    isProduction: environment === 'production',
    clock,
    logger,
    events: services.events.typed<AuthEvents>(),
  })
}
