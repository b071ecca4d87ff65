import type { PasswordAuthOptions, ResolvedLifetimes } from '../options/options.ts'

/** A level of OWASP ASVS 5.0. Level 3 needs a factor that phishing cannot get (6.3.3). */
export type AsvsLevel = 1 | 2

/** Resolved options of a provider with e-mail and password, as input of the ASVS checks. */
export interface AsvsConfiguration {
  readonly options: Omit<PasswordAuthOptions, 'secret'>
  readonly lifetimes: ResolvedLifetimes
  /** Public address of the application, from the provider or from `createApp`. */
  readonly appUrl: string | undefined
}
