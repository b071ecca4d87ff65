import type { PasswordAuthOptions, ResolvedLifetimes } from '../options/options.ts'

/** A level of OWASP ASVS 5.0. Level 3 is out of reach, because level 2 already needs a second factor (6.3.3). */
export type AsvsLevel = 1 | 2

/** What the requirements of ASVS are judged by: the options of a provider with e-mail and password, resolved. */
export interface AsvsConfiguration {
  readonly options: Omit<PasswordAuthOptions, 'secret'>
  readonly lifetimes: ResolvedLifetimes
  /** The public address of the application, of the provider or of `createApp`. */
  readonly appUrl: string | undefined
}
