import { defineRoute } from 'mortar'
import { sessionOver } from '../errors.ts'
import { currentUser } from './shapes.ts'

/** `GET /auth/me`: the user of the access token. */
export const meRoute = defineRoute(
  {
    summary: 'The signed-in user',
    operationId: 'currentUser',
    auth: true,
    response: { 200: currentUser },
  },
  ({ user: { id, name, email, raw } }) => {
    // Every account has both, so a credential without them was not issued for an account.
    if (name === undefined || email === undefined) throw sessionOver()
    return { id, name, email, raw }
  },
)
