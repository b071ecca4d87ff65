import { checkPresetOptions, TEXT } from '../option-rules.ts'
import type { HostedPreset } from '../options.ts'

/** A user pool of Amazon Cognito and its client. */
export interface CognitoOptions {
  readonly region: string
  /** `eu-central-1_AbCdEf123` */
  readonly userPoolId: string
  /** The app client, or several of them. */
  readonly clientId: string | readonly string[]
  /** Kind of token that the pages send; `access` by default. Access tokens contain neither name nor address. */
  readonly token?: 'access' | 'id'
}

/** Accepts tokens of Cognito. An access token has `client_id` and no `aud`; an ID token has `aud` and no `client_id`. */
export function cognito(options: CognitoOptions): HostedPreset {
  checkPresetOptions(options, 'cognito()', {
    region: TEXT,
    userPoolId: TEXT,
    clientId: { is: ['string', 'strings'], required: true },
    token: 'string',
  })
  const { region, userPoolId, clientId, token = 'access' } = options
  const issuer = `https://cognito-idp.${region}.amazonaws.com/${userPoolId}`
  return {
    issuer,
    audience: clientId,
    audienceClaim: token === 'access' ? 'client_id' : 'aud',
    claims: { token_use: token },
    jwksUrl: `${issuer}/.well-known/jwks.json`,
    algorithms: ['RS256'],
  }
}
