import { createSingleUseTokens, type SingleUseTokens } from './single-use-tokens.ts'

/** Makes and parses reset tokens. */
export type ResetTokens = SingleUseTokens

/** Creates reset tokens. */
export function createResetTokens(): ResetTokens {
  return createSingleUseTokens('reset-token')
}
