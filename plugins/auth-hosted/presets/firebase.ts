import { checkPresetOptions, TEXT } from '../option-rules.ts'
import type { HostedPreset } from '../options.ts'

/** A Firebase project. */
export interface FirebaseOptions {
  readonly projectId: string
}

/** Accepts ID tokens of Firebase Authentication and Identity Platform, which pages get by `user.getIdToken()`. */
export function firebase(options: FirebaseOptions): HostedPreset {
  checkPresetOptions(options, 'firebase()', { projectId: TEXT })
  const { projectId } = options
  return {
    issuer: `https://securetoken.google.com/${projectId}`,
    audience: projectId,
    jwksUrl: 'https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com',
    algorithms: ['RS256'],
  }
}
