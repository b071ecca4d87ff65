import { checkPresetOptions, TEXT } from '../option-rules.ts'
import type { HostedPreset } from '../options.ts'

/** A Supabase project. */
export interface SupabaseOptions {
  /** The project's address: `https://abcdefgh.supabase.co`. */
  readonly url: string
}

/** Accepts access tokens of Supabase Auth with asymmetric signing keys. Tokens of the old shared secret are refused. */
export function supabase(options: SupabaseOptions): HostedPreset {
  checkPresetOptions(options, 'supabase()', { url: TEXT })
  const { url } = options
  const issuer = `${url.replace(/\/+$/, '')}/auth/v1`
  return {
    issuer,
    audience: 'authenticated',
    jwksUrl: `${issuer}/.well-known/jwks.json`,
    algorithms: ['ES256', 'RS256', 'EdDSA'],
  }
}
