/** Entry `@mortar/auth/challenges/schema`: the entity of the table of single-use secrets. */
import { entityOf } from '../../basic/entity-of.ts'
import { CHALLENGES } from './table.ts'

/** `auth_challenges`: single-use secrets of features, such as the links of `emailVerification()`. */
export const AuthChallenges = entityOf(CHALLENGES)
